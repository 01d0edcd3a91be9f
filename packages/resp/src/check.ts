import { checkMessage } from '@agentpipe/message'
import { command, eachFrame } from '@agentpipe/stage'

/** `resp check`: says nothing where all is well; else the first thing that is wrong, with its byte offset, and 65. */
export const check = command({
  purpose: 'say what is wrong with the frames, and at which byte',
  options: {},
  examples: ['resp write TEXT hi | resp check && echo good', "printf '*1\\r\\n$3\\r\\nend\\r\\n' | resp check || echo bad"],
  act(context) {
    eachFrame(context, 0, checkMessage)
  },
})
