import { StringDecoder } from 'node:string_decoder'
import { type Cap, Excerpt } from './excerpt.js'
import { type Line, LineBuffer } from './line-buffer.js'
import { Sanitiser } from './sanitiser.js'

const SLICE_BYTES = 64 * 1024
/** Characters of a line that are shown, where not everything is. */
const LINE_LIMIT = 500
/** A longer line is shown in pieces, where everything is. */
const PIECE_LIMIT = 4096

export interface OutputOptions {
  readonly cap: Cap
  readonly colours: boolean
}

/** What a call prints, from bytes in any pieces to the lines of it that are to be shown. */
export class LiveOutput {
  readonly #decoder = new StringDecoder('utf8')
  readonly #sanitiser = new Sanitiser()
  readonly #lines: LineBuffer
  readonly #excerpt: Excerpt

  constructor({ cap, colours }: OutputOptions, print: (line: Line) => void) {
    this.#excerpt = new Excerpt(cap, print)
    const options = cap === 'all' ? ({ limit: PIECE_LIMIT, past: 'split', colours } as const) : ({ limit: LINE_LIMIT, past: 'count', colours } as const)
    this.#lines = new LineBuffer(options, (line) => this.#excerpt.line(line))
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) this.#sanitiser.push(this.#decoder.write(bytes.subarray(at, at + SLICE_BYTES)), this.#lines)
  }

  /** There is no more; `left` is told how many lines were left out, if any were, and the last ones follow. */
  end(left: (count: number) => void): void {
    this.#sanitiser.push(this.#decoder.end(), this.#lines)
    this.#sanitiser.reset()
    this.#lines.end()
    this.#excerpt.end(left)
  }
}
