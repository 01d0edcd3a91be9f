import { numberEnd, standsAt, type TextScanner } from './plain-bytes.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const AT = 0x40
const ZERO = 0x30
const NINE = 0x39
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** Objects with more members are left to a parser. */
const MOST = 16
const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text))

/**
 * The input of a call where it is an object of texts, whole numbers and the like, written as a serialiser writes it and with keys that no
 * parser puts in another order: as text it is the bytes that stand there, and the members that the frame repeats are found in it.
 */
export class PlainObject {
  /** Of each key and each value in turn: start, end, length as a field. */
  readonly spans = new Int32Array(3 * 2 * MOST)
  count = 0

  clear(): void {
    this.count = 0
  }

  /** Gives where the object that begins at `start` ends; -1 where it is left to a parser. */
  read(line: Buffer, start: number, text: TextScanner): number {
    this.count = 0
    let at = start + 1
    if (line[at] === CLOSING_BRACE) return at + 1
    for (;;) {
      at = this.#key(line, at, text)
      if (at >= 0) at = this.#value(line, at, text)
      if (at < 0 || this.count > MOST - 1) return -1
      this.count++
      if (line[at] === CLOSING_BRACE) return at + 1
      if (line[at++] !== COMMA) return -1
    }
  }

  /** A key that stands there as it is, is not ours, not one that would be an index, and not there twice. */
  #key(line: Buffer, quote: number, text: TextScanner): number {
    const start = quote + 1
    const first = line[start] as number
    if (line[quote] !== QUOTE || first === AT || (first >= ZERO && first <= NINE)) return -1
    const end = text.scan(line, start)
    if (end < 0 || text.length !== end - start || line[end + 1] !== COLON) return -1
    for (let member = 0; member < this.count; member++) if (this.#isKey(member, line, start, end)) return -1
    this.#put(2 * this.count, start, end, end - start)
    return end + 2
  }

  #isKey(member: number, line: Buffer, start: number, end: number): boolean {
    const [from, to] = [this.spans[member * 6] as number, this.spans[member * 6 + 1] as number]
    if (to - from !== end - start) return false
    for (let at = 0; at < end - start; at++) if (line[from + at] !== line[start + at]) return false
    return true
  }

  #value(line: Buffer, start: number, text: TextScanner): number {
    const quoted = line[start] === QUOTE
    const end = quoted ? text.scan(line, start + 1) : bareEnd(line, start)
    if (end < 0 || (quoted && text.odd)) return -1
    this.#put(2 * this.count + 1, quoted ? start + 1 : start, end, quoted ? text.length : end - start)
    return quoted ? end + 1 : end
  }

  #put(index: number, start: number, end: number, length: number): void {
    this.spans[index * 3] = start
    this.spans[index * 3 + 1] = end
    this.spans[index * 3 + 2] = length
  }
}

function bareEnd(line: Buffer, start: number): number {
  if (line[start] === OPENING_BRACE) return -1
  for (const literal of LITERALS) if (standsAt(literal, line, start)) return start + literal.length
  return numberEnd(line, start)
}
