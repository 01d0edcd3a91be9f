import { messageFields } from '@agentpipe/message'
import { command, type FrameStage, runStage } from '@agentpipe/stage'

/** Passes frames on; some time after the first result it sends a frame of LATE_BYTES in between: a sub-agent that has ended. */
runStage({
  name: 'late-frame',
  purpose: 'send a large frame while the head is busy',
  main: command({
    options: {},
    stage({ output }): FrameStage {
      let late = true
      return {
        frame(frame) {
          output.pass(frame)
          if (frame.type !== 'TOOL_RESULT' || !late) return
          late = false
          setTimeout(() => output.send(messageFields('SUB_AGENT_RESULT', ['sub', 'ok', 'z'.repeat(Number(process.env.LATE_BYTES))])), 20)
        },
      }
    },
  }),
  examples: ['', ''],
})
