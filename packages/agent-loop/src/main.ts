import { runStage } from '@agentpipe/stage'
import { agentLoop } from './agent-loop.js'

runStage({
  name: 'agent-loop',
  purpose: 'hold a conversation with a model, the head of the ring',
  main: agentLoop,
  examples: [
    'resp write TEXT hello > model.resp; resp write USER_INPUT hi | agent-loop --from model.resp | resp-render',
    'resp write USER_INPUT hi | agent-loop --from model.resp | resp json',
  ],
})
