import { runStage } from '@agentpipe/stage'
import { main } from './agent.js'

runStage({
  name: 'agentpipe',
  purpose: 'run a coding agent as a pipeline of stages',
  main,
  examples: ['agentpipe "fix the failing test"', 'git diff | agentpipe --mode read-only "review this"'],
})
