import { TIME_BYTES } from './record-head.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SPACE = 0x20
const ASCII_END = 0x80
const ZERO = 0x30
const NINE = 0x39

const BEGINNING = Buffer.from('{"v":1,"seq":')
const BEFORE_TIME = Buffer.from(',"ts":"')
const BEFORE_TYPE = Buffer.from('","type":"')
/** Digits that a number has at the most whose decimal form is surely the one that JSON gives back. */
const SAFE_DIGITS = 15

/** What is behind a backslash for what it stands for; 0 for what is better left to a parser. */
const ESCAPED = new Uint8Array(256)
for (const [letter, meant] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', u: 'u' })) {
  ESCAPED[letter.charCodeAt(0)] = meant.charCodeAt(0)
}

/** A string in a line, as `TextScanner` has found it. */
export class TextScanner {
  /** Bytes of what it stands for. */
  length = 0
  /** It has bytes that are no ASCII: they may be anything. */
  ascii = true
  /** It has escapes that a serialiser would perhaps not write. */
  odd = false

  /** Looks at the string whose first character is at `start`. Gives where its closing quote is; -1 where it is better left to a parser. */
  scan(line: Buffer, start: number): number {
    let shorter = 0
    let at = start
    this.odd = false
    for (; line[at] !== QUOTE; at++) {
      const byte = line[at] as number
      if (!(byte >= SPACE)) return -1
      if (byte >= ASCII_END) this.ascii = false
      if (byte !== BACKSLASH) continue
      const letter = line[++at] as number
      if (!(ESCAPED[letter] as number)) return -1
      shorter++
      if (letter === SLASH || letter === LOWER_U) this.odd = true
      if (letter !== LOWER_U) continue
      if (hexAt(line, at + 1) < 0) return -1
      at += 4
      shorter += 4
    }
    this.length = at - start - shorter
    return at
  }
}
const SLASH = 0x2f

/** Where the type stands in a line that begins as ours do, with a number and a time that are whole; -1 for any other. */
export function typeAt(line: Buffer, start: number): number {
  if (!standsAt(BEGINNING, line, start)) return -1
  const seq = start + BEGINNING.length
  const end = numberEnd(line, seq)
  if (end < 0 || !standsAt(BEFORE_TIME, line, end)) return -1
  const time = end + BEFORE_TIME.length
  return isTime(line, time) && standsAt(BEFORE_TYPE, line, time + TIME_BYTES) ? time + TIME_BYTES + BEFORE_TYPE.length : -1
}

/** Where a number ends that is written as JSON does it; -1 where there is none, or one that is better left to a parser. */
export function numberEnd(line: Buffer, start: number): number {
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

export function putText(line: Buffer, start: number, end: number, into: Buffer, intoStart: number): void {
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

export function standsAt(bytes: Buffer, line: Buffer, start: number): boolean {
  for (let at = 0; at < bytes.length; at++) if (line[start + at] !== bytes[at]) return false
  return true
}

export function put(bytes: Buffer, into: Buffer, start: number): number {
  for (let at = 0; at < bytes.length; at++) into[start + at] = bytes[at] as number
  return start + bytes.length
}

export function putNumber(value: number, into: Buffer, start: number): number {
  let digits = 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++
  let rest = value
  for (let at = start + digits - 1; at >= start; at--) {
    into[at] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
  return start + digits
}
