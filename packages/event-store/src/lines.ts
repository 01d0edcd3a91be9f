import { constants } from 'node:buffer'
import { readSync } from 'node:fs'

const LF = 0x0a
const BLOCK_BYTES = 64 * 1024
/** A line that is longer can't be a string, so it is no record: its bytes are not kept. */
const LONGEST_LINE = constants.MAX_STRING_LENGTH

/** A line without its LF. `bytes` is empty, and `tooLong` true, for one that is too long to be looked at. */
export interface Line {
  readonly bytes: Buffer
  readonly tooLong: boolean
  /** Whether it ends in LF; false for a last line that is torn, or being written. */
  readonly ended: boolean
}

/** A line and where in the file it begins. */
export interface PlacedLine extends Line {
  readonly start: number
}

/** The lines that chunks make up, in memory bounded by the longest line. They end at LF and nothing else. */
export function* linesOf(chunks: Iterable<Buffer>): Generator<Line> {
  const held = new Pieces()
  for (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      held.append(chunk.subarray(start, end))
      yield held.take(true)
      start = end + 1
    }
    held.append(chunk.subarray(start))
  }
  if (held.length > 0) yield held.take(false)
}

/** The lines of an open file, the last one first: the end of a log of any size is found without reading the rest. */
export function* linesFromEnd(descriptor: number, size: number): Generator<PlacedLine> {
  const held = new Pieces()
  let ended = false
  for (let blockEnd = size; blockEnd > 0; ) {
    const blockStart = Math.max(0, blockEnd - BLOCK_BYTES)
    const block = readBlock(descriptor, blockStart, blockEnd)
    let end = block.length
    while (end > 0) {
      const lf = block.lastIndexOf(LF, end - 1)
      if (lf < 0) break
      held.prepend(block.subarray(lf + 1, end))
      if (ended || held.length > 0) yield { ...held.take(ended), start: blockStart + lf + 1 }
      ended = true
      end = lf
    }
    held.prepend(block.subarray(0, end))
    blockEnd = blockStart
  }
  if (ended || held.length > 0) yield { ...held.take(ended), start: 0 }
}

/** The pieces of one line, from several chunks. */
class Pieces {
  #list: Buffer[] = []
  length = 0

  append(piece: Buffer): void {
    if (this.#count(piece)) this.#list.push(piece)
  }

  prepend(piece: Buffer): void {
    if (this.#count(piece)) this.#list.unshift(piece)
  }

  take(ended: boolean): Line {
    const tooLong = this.length > LONGEST_LINE
    const bytes = this.#list.length === 1 ? (this.#list[0] as Buffer) : Buffer.concat(this.#list)
    this.#list = []
    this.length = 0
    return { bytes, tooLong, ended }
  }

  #count(piece: Buffer): boolean {
    this.length += piece.length
    if (this.length > LONGEST_LINE) this.#list = []
    return piece.length > 0 && this.length <= LONGEST_LINE
  }
}

function readBlock(descriptor: number, start: number, end: number): Buffer {
  const block = Buffer.allocUnsafeSlow(end - start)
  let filled = 0
  while (filled < block.length) {
    const count = readSync(descriptor, block, filled, block.length - filled, start + filled)
    if (count === 0) break
    filled += count
  }
  return block.subarray(0, filled)
}
