import { isUtf8 } from 'node:buffer'
import { type Line, linesIn, piecesOf, type WholeLines } from './lines.js'
import { type Damaged, entriesIn, type LogEntry, reading, tellProblems } from './log-reader.js'
import { PlainLines } from './plain-line.js'

const OUTPUT_BYTES = 512 * 1024
/** Of the output, what is always free for a line that comes next. */
const ROOM_BYTES = 256 * 1024

/**
 * The recorded frames of a log from `start` on, as bytes: what `readLog` gives one by one, faster. Damage is told of as there, and to `read` how many bytes have been read. The bytes are valid until the
 * next ones are asked for. Throws StageError (66) where the log can't be read.
 */
export function frameBytes(path: string, damaged: Damaged, start = 0, read: (bytes: number) => void = () => {}): Generator<Buffer> {
  return reading(path, (descriptor) => new FrameBytes(damaged, start).of(descriptor, read))
}

class FrameBytes {
  readonly #plain = new PlainLines()
  readonly #output = Buffer.allocUnsafeSlow(OUTPUT_BYTES)
  #length = 0
  #lines = 0

  constructor(
    readonly damaged: Damaged,
    readonly start: number,
  ) {}

  *of(descriptor: number, read: (bytes: number) => void): Generator<Buffer> {
    for (const piece of piecesOf(descriptor, this.start)) {
      read('block' in piece ? piece.block.length : piece.length)
      if ('block' in piece) yield* this.#block(piece)
      else yield* this.#line(piece)
    }
    yield* this.#rest()
  }

  *#block({ block, start }: WholeLines): Generator<Buffer> {
    const utf8 = isUtf8(block)
    for (let at = 0; at < block.length; ) {
      if (this.#length > ROOM_BYTES) yield* this.#rest()
      const { length, lines, end } = this.#plain.run(block, at, utf8, this.#output, this.#length)
      this.#lines += lines
      this.#length = length
      if (end === block.length) return
      if (end > at && length > ROOM_BYTES) {
        at = end
        continue
      }
      const line = linesIn({ block: block.subarray(end), start: start + end }).next().value as Line
      yield* this.#line(line)
      at = end + line.length + 1
    }
  }

  *#line(line: Line): Generator<Buffer> {
    this.#lines++
    for (const { frame } of this.#entriesIn(line)) {
      const { bytes } = frame
      if (this.#length + bytes.length > this.#output.length - ROOM_BYTES) yield* this.#rest()
      if (bytes.length > ROOM_BYTES) yield bytes
      else this.#length += bytes.copy(this.#output, this.#length)
    }
  }

  #entriesIn(line: Line): readonly LogEntry[] {
    // One that is longer than a block has not been looked at yet.
    const entry = line.length > ROOM_BYTES ? this.#plain.entryIn(line.bytes) : undefined
    if (entry !== undefined) return [entry]
    const { entries, problems } = entriesIn(line)
    tellProblems(line, problems, this.start === 0 ? this.#lines : undefined, this.damaged)
    return entries
  }

  *#rest(): Generator<Buffer> {
    if (this.#length > 0) yield this.#output.subarray(0, this.#length)
    this.#length = 0
  }
}
