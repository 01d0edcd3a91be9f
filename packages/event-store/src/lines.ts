import { constants } from 'node:buffer'
import { readSync } from 'node:fs'

const LF = 0x0a
/** The end of a file is looked at in blocks that grow: of most logs little is wanted, of few a lot. */
const FIRST_BLOCK_BYTES = 8 * 1024
const GROWTH = 8
const BLOCK_BYTES = 256 * 1024
/** More than a line has in front of its members. */
const HEAD_BYTES = 256
/** A line that is longer can't be a string, so it is no record. */
const LONGEST_LINE = constants.MAX_STRING_LENGTH

/** A line without its LF, good until the next one is asked for. */
export interface Line {
  /** All of it; of one that is longer than a block read when it is asked for. Empty, and `tooLong` true, where it is too long to be looked at. */
  readonly bytes: Buffer
  /** Its beginning: all that a line may hold in front of its members, at least. */
  readonly head: Buffer
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

/** The lines of an open file from `start` on, in memory that does not grow. They end at LF and nothing else. */
export function* linesOf(descriptor: number, start = 0): Generator<Line> {
  for (const piece of piecesOf(descriptor, start)) {
    if ('block' in piece) yield* linesIn(piece)
    else yield piece
  }
}

/** The same lines, as many at once as are in a block: only one that does not fit, or the last one without LF, comes alone. */
export function* piecesOf(descriptor: number, start = 0): Generator<WholeLines | Line> {
  const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  // Where in the file that begins which is not given yet, and how much of it is in the buffer.
  let at = start
  let held = 0
  for (;;) {
    const count = fill(buffer.subarray(held), descriptor, at + held).length
    held += count
    const filled = buffer.subarray(0, held)
    const whole = filled.lastIndexOf(LF) + 1
    if (whole > 0) {
      yield { block: filled.subarray(0, whole), start: at }
      buffer.copyWithin(0, whole, held)
      at += whole
      held -= whole
    } else if (count === 0) {
      if (held > 0) yield shortLine(filled, at, false)
      return
    } else if (held === buffer.length) {
      const line = longLine(descriptor, at, buffer)
      yield line
      if (!line.ended) return
      at += line.length + 1
      held = 0
    }
  }
}

/** Whole lines one by one. */
export function* linesIn({ block, start }: WholeLines): Generator<Line> {
  for (let from = 0; from < block.length; ) {
    const end = block.indexOf(LF, from)
    yield shortLine(block.subarray(from, end), start + from, true)
    from = end + 1
  }
}

/** The lines of an open file, the last one first: the end of a log of any size is found without reading the rest. */
export function* linesFromEnd(descriptor: number, size: number): Generator<Line> {
  let buffer = Buffer.allocUnsafeSlow(FIRST_BLOCK_BYTES)
  // Where that ends which is not given yet, and whether an LF stands there.
  let rest = size
  let ended = false
  while (rest > 0 || ended) {
    const blockStart = Math.max(0, rest - buffer.length)
    const length = rest - blockStart
    const block = fill(buffer.subarray(0, length), descriptor, blockStart)
    let end = length
    for (let lf = lastLf(block, end); lf >= 0; lf = lastLf(block, end)) {
      if (ended || lf + 1 < end) yield shortLine(block.subarray(lf + 1, end), blockStart + lf + 1, ended)
      ended = true
      end = lf
    }
    rest = blockStart + end
    if (blockStart === 0) {
      if (ended || end > 0) yield shortLine(block.subarray(0, end), 0, ended)
      return
    }
    if (buffer.length < BLOCK_BYTES) buffer = Buffer.allocUnsafeSlow(Math.min(buffer.length * GROWTH, BLOCK_BYTES))
    else if (end === length) {
      const start = startOfLine(descriptor, blockStart, buffer)
      yield new LongLine(descriptor, start, rest - start, ended)
      ended = start > 0
      rest = Math.max(0, start - 1)
    }
  }
}

/** Behind the last LF in front of `end`: where the line begins that goes on there. */
function startOfLine(descriptor: number, end: number, buffer: Buffer): number {
  for (let blockEnd = end; blockEnd > 0; ) {
    const blockStart = Math.max(0, blockEnd - buffer.length)
    const lf = lastLf(fill(buffer.subarray(0, blockEnd - blockStart), descriptor, blockStart), blockEnd - blockStart)
    if (lf >= 0) return blockStart + lf + 1
    blockEnd = blockStart
  }
  return 0
}

function lastLf(block: Buffer, end: number): number {
  return end === 0 ? -1 : block.lastIndexOf(LF, end - 1)
}

/** The line that begins at `start` and does not end in the next `buffer.length` bytes, which may be used. */
function longLine(descriptor: number, start: number, buffer: Buffer): Line {
  for (let at = start + buffer.length; ; ) {
    const block = fill(buffer, descriptor, at)
    const lf = block.indexOf(LF)
    if (lf >= 0) return new LongLine(descriptor, start, at + lf - start, true)
    if (block.length === 0) return new LongLine(descriptor, start, at - start, false)
    at += block.length
  }
}

function shortLine(bytes: Buffer, start: number, ended: boolean): Line {
  return { bytes, head: bytes, tooLong: false, ended, start, length: bytes.length }
}

/** One that is not held: what is wanted of it is read. Its file must still be open then. */
class LongLine implements Line {
  readonly head: Buffer
  #bytes: Buffer | undefined

  constructor(
    readonly descriptor: number,
    readonly start: number,
    readonly length: number,
    readonly ended: boolean,
  ) {
    this.head = fill(Buffer.allocUnsafe(HEAD_BYTES), descriptor, start)
  }

  get tooLong(): boolean {
    return this.length > LONGEST_LINE
  }

  get bytes(): Buffer {
    this.#bytes ??= fill(Buffer.allocUnsafeSlow(this.tooLong ? 0 : this.length), this.descriptor, this.start)
    return this.#bytes
  }
}

/** What there is of a file from `start` on, as much as fits. */
export function fill(block: Buffer, descriptor: number, start: number): Buffer {
  let filled = 0
  while (filled < block.length) {
    const count = readSync(descriptor, block, filled, block.length - filled, start + filled)
    if (count === 0) break
    filled += count
  }
  return block.subarray(0, filled)
}
