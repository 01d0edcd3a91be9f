import { excerpt, FrameError } from './error.js'
import { Frame } from './frame.js'
import { DEFAULT_LIMITS, type Limits } from './limits.js'

const STAR = 0x2a
const DOLLAR = 0x24
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
const NINE = 0x39

/** `$0\r\n\r\n`: what each field that is still to come has at least. */
const SHORTEST_FIELD = 6
/** A header line is never longer: marker, the digits of the largest safe integer, CRLF. */
const LONGEST_HEADER = 20

/**
 * Bytes in, frames out, however the bytes are cut.
 *
 * Whole frames are handed out as views of the chunk that they came in. Only a frame that is cut by the end of a chunk is
 * copied, once, into a carry buffer; the decoder knows how many bytes that frame needs at the least and does not look at
 * it again before they are there, so that a field costs time linear in its length, whatever the chunks.
 */
export class FrameDecoder {
  readonly #limits: Limits
  /** Stream offset of the frame being read. */
  #offset = 0
  /** The unfinished frame, from its first byte. */
  #carry = Buffer.alloc(0)
  #carried = 0
  /** Bytes that the unfinished frame has at least. */
  #need = 0
  /** Fields of the frame being read; 0 until its header is read. */
  #count = 0
  #fieldsLeft = 0
  /** Where in the frame the next field's header begins. */
  #at = 0
  /** Set by #readNumber: where the header line ends. */
  #headerEnd = 0
  #failure: FrameError | undefined

  constructor(limits: Limits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** Stream offset just behind the last whole frame. */
  get offset(): number {
    return this.#offset
  }

  /** Bytes of an unfinished frame that are held. */
  get pending(): number {
    return this.#carried
  }

  /**
   * Takes the next bytes and calls `sink` with each frame that they complete, in order. The decoder owns nothing of
   * `chunk` afterwards, but frames are views of it: it must not be overwritten while they are in use.
   *
   * Throws FrameError at the first byte that is wrong, after all frames before it; then it takes no more input.
   */
  push(chunk: Uint8Array, sink: (frame: Frame) => void): void {
    if (this.#failure !== undefined) throw this.#failure
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = this.#carried > 0 ? this.#finishCarried(bytes, sink) : 0
    while (start < bytes.length) {
      if (!this.#scan(bytes, start, bytes.length)) {
        this.#keep(bytes, start, bytes.length)
        return
      }
      const end = start + this.#at
      const frame = new Frame(bytes, start, end, this.#offset)
      this.#begin(end - start)
      start = end
      sink(frame)
    }
  }

  /** Says that the input has ended. Throws FrameError if it ended inside a frame. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#carried === 0) return
    // What is held may be wrong already: the same input is the same error, however it was cut.
    this.#scan(this.#carry, 0, this.#carried)
    const at = this.#offset + this.#carried
    throw new FrameError(
      at,
      'the rest of a frame',
      'end of input',
      `truncated at byte ${at}: the input ends inside the frame that begins at byte ${this.#offset}`,
    )
  }

  /** Tops the carried frame up from `bytes`; returns how many bytes that took, all of them if it is still unfinished. */
  #finishCarried(bytes: Buffer, sink: (frame: Frame) => void): number {
    let start = 0
    while (start < bytes.length) {
      const missing = this.#need - this.#carried
      const wanted = missing > 1 ? missing : headerRest(bytes, start)
      const end = Math.min(start + wanted, bytes.length)
      this.#keep(bytes, start, end)
      start = end
      if (this.#carried < this.#need) continue
      if (!this.#scan(this.#carry, 0, this.#carried)) continue
      const frame = new Frame(this.#carry, 0, this.#carried, this.#offset)
      this.#carry = Buffer.alloc(0)
      this.#begin(this.#carried)
      sink(frame)
      return start
    }
    return start
  }

  #begin(length: number): void {
    this.#offset += length
    this.#carried = 0
    this.#need = 0
    this.#count = 0
    this.#at = 0
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    const total = this.#carried + end - start
    const capacity = Math.max(total, this.#need)
    if (capacity > this.#carry.length) {
      const larger = Math.min(Math.max(capacity, this.#carry.length * 2), Math.max(capacity, this.#limits.frameBytes))
      const carry = Buffer.allocUnsafeSlow(larger)
      this.#carry.copy(carry, 0, 0, this.#carried)
      this.#carry = carry
    }
    bytes.copy(this.#carry, this.#carried, start, end)
    this.#carried = total
  }

  /** Goes on with the frame that begins at `base`. True if it is whole, then #at is its length; else #need is set. */
  #scan(bytes: Buffer, base: number, end: number): boolean {
    if (this.#count === 0) {
      const count = this.#readNumber(bytes, base, base, end, STAR, this.#limits.fields, 'fields in a frame')
      if (count < 0) return false
      if (count === 0) this.#fail(bytes, base, base + 1, 'a count of at least 1')
      this.#count = count
      this.#fieldsLeft = count
      this.#at = this.#headerEnd - base
    }
    while (this.#fieldsLeft > 0) {
      if (!this.#scanField(bytes, base, end)) return false
      this.#fieldsLeft--
    }
    return true
  }

  #scanField(bytes: Buffer, base: number, end: number): boolean {
    const header = base + this.#at
    const length = this.#readNumber(bytes, base, header, end, DOLLAR, this.#limits.fieldBytes, 'bytes in a field')
    if (length < 0) return false
    const body = this.#headerEnd
    const bodyEnd = body + length
    if (bodyEnd + 2 - base > this.#limits.frameBytes) {
      this.#fail(bytes, base, header, `at most ${this.#limits.frameBytes} bytes in a frame`)
    }
    if (bodyEnd < end && bytes[bodyEnd] !== CR) this.#fail(bytes, base, bodyEnd, `CRLF after ${length}-byte field`)
    if (bodyEnd + 2 > end) {
      this.#need = bodyEnd + 2 - base + (this.#fieldsLeft - 1) * SHORTEST_FIELD
      return false
    }
    if (bytes[bodyEnd + 1] !== LF) this.#fail(bytes, base, bodyEnd + 1, `CRLF after ${length}-byte field`)
    if (this.#fieldsLeft === this.#count) this.#checkType(bytes, base, body, bodyEnd)
    this.#at = bodyEnd + 2 - base
    return true
  }

  /** The number in the header line at `start`, or -1 if the line is not whole yet. */
  #readNumber(bytes: Buffer, base: number, start: number, end: number, marker: number, limit: number, what: string): number {
    let at = start
    if (at < end && bytes[at] !== marker) this.#fail(bytes, base, at, `"${String.fromCharCode(marker)}"`)
    let value = 0
    for (at++; at < end; at++) {
      const byte = bytes[at] as number
      if (byte < ZERO || byte > NINE) break
      if (value === 0 && at > start + 1) this.#fail(bytes, base, start + 1, 'a number without leading zero')
      value = value * 10 + byte - ZERO
      if (value > limit) this.#fail(bytes, base, start + 1, `at most ${limit} ${what}`)
    }
    if (at >= end) return this.#wantMore(base, end)
    if (bytes[at] !== CR || at === start + 1) this.#fail(bytes, base, at, at === start + 1 ? 'a digit' : 'a digit or CRLF')
    if (at + 1 >= end) return this.#wantMore(base, end)
    if (bytes[at + 1] !== LF) this.#fail(bytes, base, at + 1, 'LF after CR')
    this.#headerEnd = at + 2
    return value
  }

  #wantMore(base: number, end: number): -1 {
    this.#need = end - base + 1
    return -1
  }

  #checkType(bytes: Buffer, base: number, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number
      const letter = byte >= 0x41 && byte <= 0x5a
      const other = (byte >= ZERO && byte <= NINE) || byte === 0x5f
      if (!letter && !(other && at > start)) this.#fail(bytes, base, at, 'a type of A-Z, 0-9 and _, a letter first')
    }
    if (start === end) this.#fail(bytes, base, start, 'a type of A-Z, 0-9 and _, a letter first')
  }

  #fail(bytes: Buffer, base: number, at: number, expected: string): never {
    const held = bytes === this.#carry ? bytes.subarray(0, this.#carried) : bytes
    this.#failure = new FrameError(this.#offset + at - base, expected, excerpt(held, at))
    throw this.#failure
  }
}

/** How many bytes of `bytes` from `start` belong to the header line that is being read: to its LF, or a few. */
function headerRest(bytes: Buffer, start: number): number {
  const limit = Math.min(start + LONGEST_HEADER, bytes.length)
  for (let at = start; at < limit; at++) {
    if (bytes[at] === LF) return at - start + 1
    const byte = bytes[at] as number
    if (byte !== CR && (byte < ZERO || byte > NINE)) return at - start + 1
  }
  return 1
}
