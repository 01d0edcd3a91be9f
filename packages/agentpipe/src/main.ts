import { runStage } from '@agentpipe/stage'
import { main } from './agent.js'
import { batch } from './batch.js'
import { completion } from './completion.js'
import { doctor } from './doctor.js'
import { undo } from './undo.js'

runStage({
  name: 'agentpipe',
  purpose: 'run a coding agent as a pipeline of stages',
  main,
  verbs: { batch, undo, doctor, completion },
  examples: ['agentpipe "fix the failing test"', 'git diff | agentpipe --mode read-only "review this"'],
})
