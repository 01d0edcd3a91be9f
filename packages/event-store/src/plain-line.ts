import { isUtf8 } from 'node:buffer'
import { Frame } from '@agentpipe/frame'
import type { LogEntry } from './log-reader.js'
import { ownHead } from './record-head.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSING_BRACE = 0x7d
const SPACE = 0x20
const ASCII_END = 0x80
const ZERO = 0x30

const BEFORE_TEXT = Buffer.from('","text":"')
const CRLF = Buffer.from('\r\n')
const SLAB_BYTES = 64 * 1024
/** Up to this size a loop copies faster than the system. */
const SHORT_BYTES = 200
/** Digits of a length, CRLF twice and `$`. */
const ROOM_BYTES = 32

/** What a frame of two fields begins with, up to the length of the second, by its type as a line spells it. */
const BEGINNINGS: Readonly<Record<string, Buffer>> = Object.fromEntries(
  ['TEXT', 'THINKING', 'USER_MESSAGE'].map((type) => [type, Buffer.from(`*2\r\n$${type.length}\r\n${type}\r\n$`)]),
)

/** What is behind a backslash for what it stands for; 0 for what is better left to a parser. */
const ESCAPED = new Uint8Array(256)
for (const [letter, meant] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' })) {
  ESCAPED[letter.charCodeAt(0)] = meant.charCodeAt(0)
}

/**
 * Most lines of a log are pieces of text that stand in JSON nearly as they are. Their frames are made of the very bytes, many times faster than through an
 * object; undefined for any other line. Frames that follow each other stand so in memory too: they go out as one piece.
 */
export class PlainLines {
  #slab = Buffer.alloc(0)
  #at = 0

  entryIn(line: Buffer): LogEntry | undefined {
    const head = ownHead(line)
    if (head === undefined) return undefined
    const beginning = BEGINNINGS[head.type]
    const start = head.typeEnd + BEFORE_TEXT.length
    const end = line.length - 2
    if (beginning === undefined || end < start || line[end] !== QUOTE || line[end + 1] !== CLOSING_BRACE) return undefined
    for (let at = 0; at < BEFORE_TEXT.length; at++) if (line[head.typeEnd + at] !== BEFORE_TEXT[at]) return undefined
    if (!isTime(line, head.timeAt)) return undefined
    const length = plainLength(line, start, end)
    if (length < 0) return undefined
    return { record: head, frame: this.#frame(beginning, length, line, start, end) }
  }

  /** The frame of a text of `length` bytes, which stands in `line` from `start` to `end`. */
  #frame(beginning: Buffer, length: number, line: Buffer, start: number, end: number): Frame {
    if (this.#at + beginning.length + length + ROOM_BYTES > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, beginning.length + length + ROOM_BYTES))
      this.#at = 0
    }
    const slab = this.#slab
    const frameStart = this.#at
    let at = put(beginning, slab, frameStart)
    at = put(CRLF, slab, putNumber(length, slab, at))
    if (length === end - start && length > SHORT_BYTES) line.copy(slab, at, start, end)
    else putText(line, start, end, slab, at)
    this.#at = put(CRLF, slab, at + length)
    return new Frame(slab, frameStart, this.#at, 0)
  }
}

/** `2026-12-01T09:30:00.123Z`, digits in the place of digits. */
function isTime(line: Buffer, start: number): boolean {
  for (let at = 0; at < TIME.length; at++) {
    const byte = line[start + at] as number
    if (TIME[at] === ZERO ? byte < ZERO || byte > ZERO + 9 : byte !== TIME[at]) return false
  }
  return true
}
const TIME = Buffer.from('0000-00-00T00:00:00.000Z')

/** Bytes of the text that a string in JSON stands for; -1 where that is better left to a parser. */
function plainLength(line: Buffer, start: number, end: number): number {
  let ascii = true
  let escapes = 0
  for (let at = start; at < end; at++) {
    const byte = line[at] as number
    if (byte === QUOTE || byte < SPACE) return -1
    if (byte >= ASCII_END) ascii = false
    if (byte !== BACKSLASH) continue
    if (++at >= end || ESCAPED[line[at] as number] === 0) return -1
    escapes++
  }
  return ascii || isUtf8(line.subarray(start, end)) ? end - start - escapes : -1
}

function putText(line: Buffer, start: number, end: number, into: Buffer, intoStart: number): void {
  let to = intoStart
  for (let at = start; at < end; at++) {
    const byte = line[at] as number
    into[to++] = byte === BACKSLASH ? (ESCAPED[line[++at] as number] as number) : byte
  }
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
