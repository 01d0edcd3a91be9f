import { toJsonLine } from '@agentpipe/message'
import { command, eachFrame } from '@agentpipe/stage'

/** `resp json`: one JSON object a line for each frame, lossless. */
export const json = command({
  purpose: 'print each frame as a line of JSON',
  options: {},
  examples: ['resp write TEXT hi | resp json', 'resp write TEXT hi | resp json | jq -r .type'],
  act(context) {
    eachFrame(context, 0, (frame) => context.output.write(`${toJsonLine(frame)}\n`))
  },
})
