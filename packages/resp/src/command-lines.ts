import { encodeFrame, Frame } from '@agentpipe/frame'
import { messageFields, messageSpec } from '@agentpipe/message'
import { EXIT, Lines, StageError } from '@agentpipe/stage'
import { frameOf, lineProblem } from './unjson.js'

/** How frames begin, and no line of JSON. */
const FRAME = /^\*\d+\r?$/
/** Bytes of a line at most: a field holds no more. */
const LONGEST_LINE = 64 * 1024 ** 2

/**
 * Lines of JSON, in whatever pieces they come, as the frames of commands. A line that is none becomes CONTROL refused, which says where it stands and what is
 * wrong with it: agent-loop makes an ERROR of it, in its turn. Blank lines don't count.
 */
export class CommandLines {
  readonly #each: (frame: Frame) => void
  readonly #lines: Lines
  #number = 0
  #tooLong = false

  constructor(each: (frame: Frame) => void) {
    this.#each = each
    this.#lines = new Lines(LONGEST_LINE, (line, ended) => {
      if (ended) this.#line(line)
      this.#tooLong = !ended
    })
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk)
  }

  /** The last line need not end in LF. */
  end(): void {
    this.#lines.end()
  }

  #line(line: Buffer): void {
    this.#number++
    if (this.#number === 1 && FRAME.test(line.toString('latin1', 0, 20))) {
      throw new StageError(EXIT.DATA, 'standard input: expected lines of JSON, found frames: resp json makes lines of them')
    }
    try {
      if (this.#tooLong) throw new TypeError(`longer than ${LONGEST_LINE} bytes`)
      const bytes = frameOf(line)
      if (bytes !== undefined) this.#each(commandOf(bytes))
    } catch (error) {
      const bytes = encodeFrame(messageFields('CONTROL', ['refused', `standard input, ${lineProblem(this.#number, error)}`]))
      this.#each(new Frame(bytes, 0, bytes.length, 0))
    }
  }
}

function commandOf(bytes: Buffer): Frame {
  const frame = new Frame(bytes, 0, bytes.length, 0)
  const { type } = frame
  if (messageSpec(type)?.kind !== 'command') throw new TypeError(`${JSON.stringify(type.toLowerCase().slice(0, 64))} is no command`)
  return frame
}
