import { runStage } from '@agentpipe/stage'
import { agentLoop } from './agent-loop.js'

runStage({
  name: 'agent-loop',
  purpose: 'hold a conversation with a model, the head of the ring',
  main: agentLoop,
  examples: [
    'resp write USER_INPUT hi | agent-loop --from fixtures/demo/in.resp | resp-render',
    'resp write USER_INPUT hi | agent-loop --from fixtures/demo/in.resp | resp json',
  ],
})
