import { command, runStage } from '@agentpipe/stage'
import { OPTIONS } from './options.js'
import { SubAgentRunner } from './runner.js'

runStage({
  name: 'sub-agent',
  purpose: 'run agents that the model starts, each an agentpipe of its own',
  main: command({ options: OPTIONS, operands: '[-- AGENTPIPE-OPTION...]', stage: (context) => new SubAgentRunner(context) }),
  examples: [
    `resp write TEXT hello > model.resp; resp write TOOL_CALL SubAgent c1 '{"prompt":"hi"}' | sub-agent -- --from model.resp | resp json`,
    `resp write TOOL_CALL SubAgent c1 '{"prompt":"hi"}' | sub-agent -- --from model.resp | resp-render`,
  ],
})
