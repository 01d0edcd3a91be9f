import { isUtf8 } from 'node:buffer'
import { DEFAULT_LIMITS, Frame } from '@agentpipe/frame'
import type { LogEntry } from './log-reader.js'
import { longestGrowth, type Member, type Shape, shapesOfLines } from './plain-shapes.js'
import { ownHead, TIME_BYTES } from './record-head.js'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const CLOSING_BRACE = 0x7d
const LF = 0x0a
const SPACE = 0x20
const ASCII_END = 0x80
const ZERO = 0x30
const NINE = 0x39

const BEGINNING = Buffer.from('{"v":1,"seq":')
const BEFORE_TIME = Buffer.from(',"ts":"')
const BEFORE_TYPE = Buffer.from('","type":"')
const CRLF = Buffer.from('\r\n')
const DOLLAR = 0x24
/** Digits that a number has at the most whose decimal form is surely the one that JSON gives back. */
const SAFE_DIGITS = 15
const SLAB_BYTES = 64 * 1024
/** Up to this size a loop copies faster than the system. */
const SHORT_BYTES = 200
/** Numbers that are kept of a value: its member, where it stands, where it ends, its length as a field. */
const SPAN = 4

/** What is behind a backslash for what it stands for; 0 for what is better left to a parser. */
const ESCAPED = new Uint8Array(256)
for (const [letter, meant] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', u: 'u' })) {
  ESCAPED[letter.charCodeAt(0)] = meant.charCodeAt(0)
}

/** What `PlainLines.run` has made. */
export interface PlainRun {
  /** Where the first line begins that is left. */
  end: number
  /** Lines that were read. */
  lines: number
  /** Bytes of their frames. */
  length: number
}

/**
 * Makes frames of the lines that event-store writes without a parser and without objects, many times faster: members in the order of the table of
 * messages, values that stand in JSON nearly as they are. Any other line is left to `recordsIn`, which gives the same bytes.
 */
export class PlainLines {
  /** The values of the line that was looked at last. */
  readonly #spans = new Int32Array(SPAN * shapesOfLines.longest)
  #values = 0
  #attributes = 0
  #end = 0
  #shape = shapesOfLines.all[0] as Shape
  #slab = Buffer.alloc(0)
  #at = 0

  /** The record and the frame of one line, without its LF; undefined where it is left to a parser. Frames that follow each other go out as one piece. */
  entryIn(line: Buffer): LogEntry | undefined {
    if (line.length > DEFAULT_LIMITS.fieldBytes || !this.#read(line, 0, false) || this.#end !== line.length) return undefined
    const record = ownHead(line)
    if (record === undefined) return undefined
    const room = longestGrowth(line.length)
    if (this.#at + room > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, room))
      this.#at = 0
    }
    const start = this.#at
    this.#at = this.#write(line, this.#slab, start)
    return { record, frame: new Frame(this.#slab, start, this.#at, 0) }
  }

  /** Writes the frames of whole lines, from the one at `start` on, to the beginning of `into`, as far as they are plain and there is room for certain. */
  run(lines: Buffer, start: number, into: Buffer): PlainRun {
    const run = { end: start, lines: 0, length: 0 }
    const utf8 = isUtf8(lines)
    while (run.end < lines.length && this.#read(lines, run.end, utf8) && lines[this.#end] === LF) {
      if (run.length + longestGrowth(this.#end - run.end) > into.length) break
      run.length = this.#write(lines, into, run.length)
      run.end = this.#end + 1
      run.lines++
    }
    return run
  }

  /** Looks where the values of a line are, and where it ends. `utf8`: its bytes are known to be UTF-8. */
  #read(line: Buffer, start: number, utf8: boolean): boolean {
    const type = typeAt(line, start)
    if (type < 0 || !this.#findShape(line, type)) return false
    let at = type + this.#shape.type.length
    let ascii = true
    this.#values = 0
    this.#attributes = 0
    const { members } = this.#shape
    for (let index = 0; index < members.length; index++) {
      const member = members[index] as Member
      if (line[at] !== COMMA || !standsAt(member.name, line, at)) {
        if (member.key === undefined) return false
        continue
      }
      at += member.name.length
      const span = this.#values++ * SPAN
      const quoted = line[at] === QUOTE
      const valueStart = quoted ? at + 1 : at
      let shorter = 0
      if (!quoted) {
        at = numberEnd(line, at)
        if (at < 0) return false
      } else {
        for (at = valueStart; line[at] !== QUOTE; at++) {
          const byte = line[at] as number
          if (!(byte >= SPACE)) return false
          if (byte >= ASCII_END) ascii = false
          if (byte !== BACKSLASH) continue
          const letter = line[++at] as number
          if (!(ESCAPED[letter] as number)) return false
          shorter++
          if (letter !== LOWER_U) continue
          if (hexAt(line, at + 1) < 0) return false
          at += 4
          shorter += 4
        }
      }
      this.#spans[span] = index
      this.#spans[span + 1] = valueStart
      this.#spans[span + 2] = at
      this.#spans[span + 3] = at - valueStart - shorter
      if (quoted) at++
      if (member.key !== undefined) this.#attributes++
    }
    if (line[at] !== CLOSING_BRACE) return false
    this.#end = at + 1
    return ascii || utf8 || isUtf8(line.subarray(start, at))
  }

  #findShape(line: Buffer, type: number): boolean {
    // Lines of one type follow each other.
    if (standsAt(this.#shape.type, line, type)) return true
    const shape = shapesOfLines.all.find((each) => standsAt(each.type, line, type))
    this.#shape = shape ?? this.#shape
    return shape !== undefined
  }

  /** Writes the frame of the line that was looked at. Gives its end. */
  #write(line: Buffer, into: Buffer, start: number): number {
    const { members, heads } = this.#shape
    let at = put(heads[this.#attributes] as Buffer, into, start)
    for (let span = 0; span < this.#values * SPAN; span += SPAN) {
      const [valueStart, valueEnd, length] = [this.#spans[span + 1] as number, this.#spans[span + 2] as number, this.#spans[span + 3] as number]
      const key = members[this.#spans[span] as number]?.key
      if (key !== undefined) at = put(key, into, at)
      into[at] = DOLLAR
      at = put(CRLF, into, putNumber(length, into, at + 1))
      if (length > SHORT_BYTES && length === valueEnd - valueStart) line.copy(into, at, valueStart, valueEnd)
      else putText(line, valueStart, valueEnd, into, at)
      at = put(CRLF, into, at + length)
    }
    return at
  }
}

/** Where the type stands in a line that begins as ours do, with a number and a time that are whole; -1 for any other. */
function typeAt(line: Buffer, start: number): number {
  if (!standsAt(BEGINNING, line, start)) return -1
  const seq = start + BEGINNING.length
  const end = numberEnd(line, seq)
  if (end < 0 || !standsAt(BEFORE_TIME, line, end)) return -1
  const time = end + BEFORE_TIME.length
  return isTime(line, time) && standsAt(BEFORE_TYPE, line, time + TIME_BYTES) ? time + TIME_BYTES + BEFORE_TYPE.length : -1
}

/** Where a number ends that is written as JSON does it; -1 where there is none, or one that is better left to a parser. */
function numberEnd(line: Buffer, start: number): number {
  let at = start
  while ((line[at] as number) >= ZERO && (line[at] as number) <= NINE) at++
  const digits = at - start
  return digits === 0 || digits > SAFE_DIGITS || (digits > 1 && line[start] === ZERO) ? -1 : at
}

/** `2026-12-01T09:30:00.123Z`: digits in the place of digits, and a time for certain. */
function isTime(line: Buffer, start: number): boolean {
  for (let at = 0; at < TIME_BYTES; at++) {
    const byte = line[start + at] as number
    if (TIME[at] === ZERO ? !(byte >= ZERO && byte <= NINE) : byte !== TIME[at]) return false
  }
  const month = twoDigits(line, start + 5)
  const day = twoDigits(line, start + 8)
  return (
    month > 0 && month <= 12 && day > 0 && day <= 31 && twoDigits(line, start + 11) < 24 && twoDigits(line, start + 14) < 60 && twoDigits(line, start + 17) < 60
  )
}
const TIME = Buffer.from('0000-00-00T00:00:00.000Z')

function twoDigits(line: Buffer, at: number): number {
  return ((line[at] as number) - ZERO) * 10 + (line[at + 1] as number) - ZERO
}

/** The ASCII character that four hexadecimal digits are; -1 for any other. */
function hexAt(line: Buffer, start: number): number {
  if (line[start] !== ZERO || line[start + 1] !== ZERO) return -1
  const high = (line[start + 2] as number) - ZERO
  const low = hexDigit(line[start + 3] as number)
  return high >= 0 && high < 8 && low >= 0 ? high * 16 + low : -1
}

function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function putText(line: Buffer, start: number, end: number, into: Buffer, intoStart: number): void {
  let to = intoStart
  for (let at = start; at < end; at++) {
    const byte = line[at] as number
    if (byte !== BACKSLASH) {
      into[to++] = byte
      continue
    }
    const letter = line[++at] as number
    into[to++] = letter === LOWER_U ? hexAt(line, at + 1) : (ESCAPED[letter] as number)
    if (letter === LOWER_U) at += 4
  }
}

function standsAt(bytes: Buffer, line: Buffer, start: number): boolean {
  for (let at = 0; at < bytes.length; at++) if (line[start + at] !== bytes[at]) return false
  return true
}

function put(bytes: Buffer, into: Buffer, start: number): number {
  for (let at = 0; at < bytes.length; at++) into[start + at] = bytes[at] as number
  return start + bytes.length
}

function putNumber(value: number, into: Buffer, start: number): number {
  let digits = 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++
  let rest = value
  for (let at = start + digits - 1; at >= start; at--) {
    into[at] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
  return start + digits
}
