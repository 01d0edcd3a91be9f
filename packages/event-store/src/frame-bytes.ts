import { type Line, linesIn, piecesOf, type WholeLines } from './lines.js'
import { type Damaged, entriesIn, reading, tellProblems } from './log-reader.js'
import { PlainLines } from './plain-line.js'

const OUTPUT_BYTES = 1024 * 1024

/**
 * The recorded frames of a log from `start` on, as bytes: what `readLog` gives one by one, faster. Damage is told of as there. The bytes are valid until the
 * next ones are asked for. Throws StageError (66) where the log can't be read.
 */
export function frameBytes(path: string, damaged: Damaged, start = 0): Generator<Buffer> {
  return reading(path, (descriptor) => new FrameBytes(damaged, start).of(descriptor))
}

class FrameBytes {
  readonly #plain = new PlainLines()
  readonly #output = Buffer.allocUnsafeSlow(OUTPUT_BYTES)
  #lines = 0

  constructor(
    readonly damaged: Damaged,
    readonly start: number,
  ) {}

  *of(descriptor: number): Generator<Buffer> {
    for (const piece of piecesOf(descriptor, this.start)) {
      if ('block' in piece) yield* this.#block(piece)
      else yield* this.#line(piece)
    }
  }

  *#block({ block, start }: WholeLines): Generator<Buffer> {
    for (let at = 0; at < block.length; ) {
      const { length, lines, end } = this.#plain.run(block, at, this.#output)
      this.#lines += lines
      if (length > 0) yield this.#output.subarray(0, length)
      if (end === block.length) return
      const line = linesIn({ block: block.subarray(end), start: start + end }).next().value as Line
      yield* this.#line(line)
      at = end + line.length + 1
    }
  }

  *#line(line: Line): Generator<Buffer> {
    this.#lines++
    const { entries, problems } = entriesIn(line)
    tellProblems(line, problems, this.start === 0 ? this.#lines : undefined, this.damaged)
    for (const { frame } of entries) yield frame.bytes
  }
}
