import { constants } from 'node:buffer'
import { Frame } from '@agentpipe/frame'
import { checkJson, fromJson } from '@agentpipe/message'
import { command, EXIT, reason, StageError } from '@agentpipe/stage'
import { lineBatches } from './lines.js'

/** `resp unjson`: the frames that `resp json` printed, from its lines. Those of events.jsonl do as well. Blank lines don't count. */
export const unjson = command({
  purpose: 'write the frames that lines of JSON stand for',
  options: {},
  examples: ['resp write TEXT hi | resp json | sed s/hi/hello/ | resp unjson | resp-render', `echo '{"type":"text","text":"hi"}' | resp unjson | resp dump`],
  act({ output }) {
    let number = 0
    try {
      // A longer line can't be a string, nor can the frame that it would be.
      for (const lines of lineBatches(0, constants.MAX_STRING_LENGTH)) {
        for (const line of lines) {
          number++
          const bytes = frameOf(line)
          if (bytes !== undefined) output.pass(new Frame(bytes, 0, bytes.length, 0))
        }
        output.flush()
        if (output.closed) return
      }
    } catch (error) {
      throw wrongLine(number, error)
    } finally {
      // Where a line is wrong, the frames of those before it.
      output.flush()
    }
  },
})

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The frame of a line, undefined where it is blank. Throws an Error that says what is wrong with it. */
export function frameOf(line: Buffer): Buffer | undefined {
  let text: string
  try {
    text = utf8.decode(line)
  } catch {
    throw new TypeError('not UTF-8')
  }
  if (text.trim() === '') return undefined
  const object: unknown = JSON.parse(text)
  checkJson(object)
  return fromJson(object)
}

function wrongLine(number: number, error: unknown): Error {
  return error instanceof StageError ? error : new StageError(EXIT.DATA, lineProblem(number, error))
}

/** What is wrong with a line, for what `frameOf` threw. */
export function lineProblem(number: number, error: unknown): string {
  if (error instanceof RangeError && error.message.includes('call stack')) return `line ${number}: nested too deeply`
  const problem = error instanceof SyntaxError ? `not JSON: ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}` : reason(error)
  return `line ${number}: ${problem}`
}
