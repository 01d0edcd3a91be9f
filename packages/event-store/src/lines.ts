import { constants } from 'node:buffer'
import { readSync } from 'node:fs'

const LF = 0x0a
/** The end of a file is looked at in blocks that grow: of most logs little is wanted, of few a lot. */
const FIRST_BLOCK_BYTES = 8 * 1024
const BLOCK_BYTES = 256 * 1024
/** A line that is longer can't be a string, so it is no record: its bytes are not kept. */
const LONGEST_LINE = constants.MAX_STRING_LENGTH

/** A line without its LF. `bytes` is empty, and `tooLong` true, for one that is too long to be looked at. */
export interface Line {
  readonly bytes: Buffer
  readonly tooLong: boolean
  /** Whether it ends in LF; false for a last line that is torn, or being written. */
  readonly ended: boolean
  /** Where in the file it begins. */
  readonly start: number
  /** Bytes, without the LF. */
  readonly length: number
}

/** Lines that are whole and follow each other, with the LF of each. */
export interface WholeLines {
  readonly block: Buffer
  /** Where in the file it begins. */
  readonly start: number
}

/**
 * The lines of an open file from `start` on, in memory bounded by the longest line. They end at LF and nothing else. The bytes of a line are a view that
 * is valid until the next one is asked for: every block is read into the same buffer.
 */
export function* linesOf(descriptor: number, start = 0): Generator<Line> {
  for (const piece of piecesOf(descriptor, start)) {
    if ('block' in piece) yield* linesIn(piece)
    else yield piece
  }
}

/** The same lines, as many at once as are in a block: only one that does not fit, or the last one without LF, comes alone. */
export function* piecesOf(descriptor: number, start = 0): Generator<WholeLines | Line> {
  const held = new Pieces()
  const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  // Where in the file that begins which is not given yet: pieces that are held, then `kept` bytes at the beginning of the buffer.
  let at = start
  let kept = 0
  for (;;) {
    const count = fill(buffer.subarray(kept), descriptor, at + held.length + kept).length
    const filled = buffer.subarray(0, kept + count)
    if (count === 0) {
      held.append(filled)
      if (held.length > 0) yield held.take(false, at)
      return
    }
    let from = 0
    if (held.length > 0) {
      const end = filled.indexOf(LF)
      held.append(Buffer.from(end < 0 ? filled : filled.subarray(0, end)))
      kept = 0
      if (end < 0) continue
      const line = held.take(true, at)
      at += line.length + 1
      from = end + 1
      yield line
    }
    const last = filled.lastIndexOf(LF)
    if (last >= from) {
      const block = filled.subarray(from, last + 1)
      yield { block, start: at }
      at += block.length
      from = last + 1
    }
    kept = filled.length - from
    if (kept === buffer.length) {
      held.append(Buffer.from(filled))
      kept = 0
    } else buffer.copyWithin(0, from, filled.length)
  }
}

/** Whole lines one by one. */
export function* linesIn({ block, start }: WholeLines): Generator<Line> {
  for (let from = 0; from < block.length; ) {
    const end = block.indexOf(LF, from)
    yield { bytes: block.subarray(from, end), tooLong: false, ended: true, start: start + from, length: end - from }
    from = end + 1
  }
}

/** The lines of an open file, the last one first: the end of a log of any size is found without reading the rest. */
export function* linesFromEnd(descriptor: number, size: number): Generator<Line> {
  const held = new Pieces()
  let ended = false
  let blockBytes = FIRST_BLOCK_BYTES
  for (let blockEnd = size; blockEnd > 0; ) {
    const blockStart = Math.max(0, blockEnd - blockBytes)
    const block = readBlock(descriptor, blockStart, blockEnd)
    let end = block.length
    while (end > 0) {
      const lf = block.lastIndexOf(LF, end - 1)
      if (lf < 0) break
      held.prepend(block.subarray(lf + 1, end))
      if (ended || held.length > 0) yield held.take(ended, blockStart + lf + 1)
      ended = true
      end = lf
    }
    held.prepend(block.subarray(0, end))
    blockEnd = blockStart
    blockBytes = Math.min(blockBytes * 2, BLOCK_BYTES)
  }
  if (ended || held.length > 0) yield held.take(ended, 0)
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

  take(ended: boolean, start: number): Line {
    const { length } = this
    const bytes = this.#list.length === 1 ? (this.#list[0] as Buffer) : Buffer.concat(this.#list)
    this.#list = []
    this.length = 0
    return { bytes, tooLong: length > LONGEST_LINE, ended, start, length }
  }

  #count(piece: Buffer): boolean {
    this.length += piece.length
    if (this.length > LONGEST_LINE) this.#list = []
    return piece.length > 0 && this.length <= LONGEST_LINE
  }
}

function readBlock(descriptor: number, start: number, end: number): Buffer {
  return fill(Buffer.allocUnsafeSlow(end - start), descriptor, start)
}

/** What there is of a file from `start` on, as much as fits. */
function fill(block: Buffer, descriptor: number, start: number): Buffer {
  let filled = 0
  while (filled < block.length) {
    const count = readSync(descriptor, block, filled, block.length - filled, start + filled)
    if (count === 0) break
    filled += count
  }
  return block.subarray(0, filled)
}
