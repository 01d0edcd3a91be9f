import { command, runStage } from '@agentpipe/stage'
import { OPTIONS } from './options.js'
import { ToolRunner } from './runner.js'

runStage({
  name: 'tool-runner',
  purpose: 'run the tools that the model calls',
  main: command({ options: OPTIONS, stage: (context) => ToolRunner.start(context) }),
  examples: [
    `resp write TOOL_CALL Bash c1 '{"command":"date"}' | tool-runner | resp json`,
    `resp write TOOL_CALL Glob c1 '{"pattern":"*.md"}' | tool-runner --mode read-only | resp json`,
  ],
})
