import { encodeFrame } from '@agentpipe/frame'
import { MESSAGES } from '@agentpipe/message'
import { command, EXIT, nearest, usage } from '@agentpipe/stage'

/**
 * `resp grep [-v] TYPE...`: only the frames of these types pass, byte for byte; with -v all others. A TYPE that no message has and that
 * did not come either was mistyped: that is told at the end, and the status is 1 if nothing passed.
 */
export const grep = command({
  purpose: 'pass only frames of these types; -v: all others',
  options: { invert: { type: 'flag', short: 'v', about: 'pass the frames of all other types' } },
  operands: 'TYPE...',
  examples: ['resp write TEXT hi | resp grep TEXT STOP | resp json', 'resp write TEXT hi | resp grep -v THINKING | resp-render'],
  stage({ operands, options, output, diagnose }) {
    if (operands.length === 0) throw usage('grep needs a TYPE; see --help')
    for (const type of operands) checkType(type)
    const types = new Set(operands)
    const unknown = new Set(operands.filter((type) => !Object.hasOwn(MESSAGES, type)))
    let passed = false
    return {
      frame(frame) {
        if (unknown.size > 0) unknown.delete(frame.type)
        if (types.has(frame.type) === options.invert) return
        passed = true
        output.pass(frame)
      },
      end() {
        for (const type of unknown) diagnose(`no frame of type ${type}${hint(type)}`)
        return unknown.size > 0 && !passed && !options.invert ? NOTHING_FOUND : EXIT.OK
      },
    }
  },
})

/** As grep(1) has it. */
const NOTHING_FOUND = 1

function hint(type: string): string {
  const meant = nearest(type, Object.keys(MESSAGES))
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

function checkType(type: string): void {
  try {
    encodeFrame([type])
  } catch (error) {
    throw usage((error as Error).message)
  }
}
