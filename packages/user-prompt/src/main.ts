import { runStage } from '@agentpipe/stage'
import { prompt } from './prompt.js'

runStage({
  name: 'user-prompt',
  purpose: 'turn keys typed at the terminal into what a pipeline is asked',
  main: prompt,
  examples: ['user-prompt --help | head -1', 'user-prompt --version'],
})
