import { encodeFrame } from '@agentpipe/frame'
import { command, usage } from '@agentpipe/stage'

/** `resp grep [-v] TYPE...`: only the frames of these types pass, byte for byte; with -v all others. */
export const grep = command({
  purpose: 'pass only frames of these types; -v: all others',
  options: { invert: { type: 'flag', short: 'v', about: 'pass the frames of all other types' } },
  operands: 'TYPE...',
  examples: ['resp grep TEXT STOP < session.resp | resp json', 'resp grep -v THINKING < session.resp | resp-render'],
  stage({ operands, options, output }) {
    if (operands.length === 0) throw usage('grep needs a TYPE; see --help')
    for (const type of operands) checkType(type)
    const types = new Set(operands)
    return {
      frame(frame) {
        if (types.has(frame.type) !== options.invert) output.pass(frame)
      },
    }
  },
})

function checkType(type: string): void {
  try {
    encodeFrame([type])
  } catch (error) {
    throw usage((error as Error).message)
  }
}
