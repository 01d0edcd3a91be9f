import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { encodeFrame, Frame } from '@agentpipe/frame'
import { jsonText, messageSpec } from '@agentpipe/message'
import { LONGEST_TEXT, recordLine } from './record.js'

/** Frames from this size on are worth it. */
const LONG_FRAME_BYTES = 1024 * 1024
/** Their fields from this size on are written in slices. A multiple of 3: the base64 of slices is that of the whole. */
const SLICE_BYTES = 48 * 1024
/** As base64 it has no padding. */
const MARK_BYTES = 24

/** A long field, and what stands in its place in a line that was made without it. */
interface LongField {
  readonly bytes: Buffer
  readonly isText: boolean
  readonly mark: Buffer
  /** The mark as it is written in the line. */
  readonly written: string
}

/** Whether a frame should have its line in pieces. */
export function isLong({ start, end }: Frame): boolean {
  return end - start >= LONG_FRAME_BYTES
}

/**
 * The line of a long frame, the same that `recordLine` gives, in pieces: a field of 64 MB is in memory once, not six times. Undefined where the line
 * depends on what is in such a field: it holds JSON, or so much that must be escaped that the whole would be too long.
 */
export function recordPieces(frame: Frame, seq: number, time: string): Iterable<Buffer> | undefined {
  const spec = messageSpec(frame.type)
  if ([...(spec?.fields ?? []), ...(spec?.attributes ?? [])].some(({ type }) => type === 'json')) return undefined
  const fields = frame.fields()
  const long = new Map(fields.flatMap((bytes, index) => (bytes.length > SLICE_BYTES ? [[index, longField(bytes)] as const] : [])))
  const sizes = [...long.values()].map(({ bytes, isText }) => (isText ? mostUnits(bytes) : bytes.length * 2))
  if (sizes.reduce((sum, size) => sum + size, frame.end - frame.start) > LONGEST_TEXT) return undefined
  const short = encodeFrame(fields.map((field, index) => long.get(index)?.mark ?? field))
  return joined(recordLine(new Frame(short, 0, short.length, frame.offset), seq, time), [...long.values()])
}

function longField(bytes: Buffer): LongField {
  const isText = isUtf8(bytes)
  const random = randomBytes(MARK_BYTES)
  // No UTF-8 begins with FF: it becomes base64 too.
  random[0] = 0xff
  const written = random.toString('base64')
  return { bytes, isText, mark: isText ? Buffer.from(written) : random, written }
}

function* joined(line: string, long: readonly LongField[]): Generator<Buffer> {
  let at = 0
  for (const { bytes, isText, written } of long.toSorted((one, other) => line.indexOf(one.written) - line.indexOf(other.written))) {
    const start = line.indexOf(written)
    yield Buffer.from(line.slice(at, start))
    yield* isText ? textSlices(bytes) : base64Slices(bytes)
    at = start + written.length
  }
  yield Buffer.from(line.slice(at))
}

function* textSlices(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = characterStart(bytes, Math.min(start + SLICE_BYTES, bytes.length))
    yield Buffer.from(jsonText(bytes.toString('utf8', start, end)).slice(1, -1))
    start = end
  }
}

function* base64Slices(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    yield Buffer.from(bytes.toString('base64', start, Math.min(start + SLICE_BYTES, bytes.length)))
  }
}

/** Where the character begins that the byte at `at` belongs to. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start--
  return start
}

/** UTF-16 units that text takes in JSON at the most; Infinity where the record might have it as base64 for its control characters. */
function mostUnits(bytes: Buffer): number {
  let controls = 0
  let units = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < 0x20) controls++
    units += byte < 0x20 || byte === 0x7f ? 6 : byte === 0x22 || byte === 0x5c ? 2 : byte < 0x80 ? 1 : 3
  }
  return controls * 3 > bytes.length ? Number.POSITIVE_INFINITY : units
}
