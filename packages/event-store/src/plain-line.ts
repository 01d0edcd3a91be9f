import { isUtf8 } from 'node:buffer'
import { DEFAULT_LIMITS, Frame } from '@agentpipe/frame'
import type { LogEntry } from './log-reader.js'
import { numberEnd, put, putNumber, putText, standsAt, TextScanner, typeAt } from './plain-bytes.js'
import { PlainObject } from './plain-object.js'
import { longestGrowth, type Member, type Shape, shapesOfLines } from './plain-shapes.js'
import type { EventRecord } from './record.js'
import { ownHead } from './record-head.js'

const QUOTE = 0x22
const DOLLAR = 0x24
const STAR = 0x2a
const COMMA = 0x2c
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const LF = 0x0a

const CRLF = Buffer.from('\r\n')
const SLAB_BYTES = 64 * 1024
/** Up to this size a loop copies faster than the system. */
const SHORT_BYTES = 200
/** Numbers that are kept of a value: its member, where it stands, where it ends, its length as a field. */
const SPAN = 4
/** Of a line as long there can't be a frame past its limits, but for members that are repeated, or a field that is too long by itself. */
const LONGEST_LINE = DEFAULT_LIMITS.fieldBytes * 1.5

/** What `PlainLines.run` has made. */
export interface PlainRun {
  /** Where the first line begins that is left. */
  end: number
  /** Lines that were read. */
  lines: number
  /** Where their frames end. */
  length: number
}

/**
 * Makes frames of the lines that event-store writes without a parser and without objects, many times faster: members in the order of the table of
 * messages, values that stand in JSON nearly as they are. Any other line is left to `recordsIn`, which gives the same bytes.
 */
export class PlainLines {
  /** The values of the line that was looked at last. */
  readonly #spans = new Int32Array(SPAN * shapesOfLines.longest)
  readonly #text = new TextScanner()
  readonly #input = new PlainObject()
  #values = 0
  #fields = 0
  #end = 0
  #shape = shapesOfLines.all[0] as Shape
  #slab = Buffer.alloc(0)

  /** The record of one line, without its LF; undefined where that is left to a parser. Its members are parsed when they are asked for, before the next line is. */
  recordIn(line: Buffer): EventRecord | undefined {
    return this.#readAll(line) ? ownHead(line) : undefined
  }

  /** The record and the frame of one line, without its LF; undefined where it is left to a parser. The frame is good until the next one is asked for. */
  entryIn(line: Buffer): LogEntry | undefined {
    if (!this.#readAll(line)) return undefined
    const record = ownHead(line)
    if (record === undefined) return undefined
    const room = longestGrowth(line.length)
    if (room > this.#slab.length) this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, room))
    return { record, frame: new Frame(this.#slab, 0, this.#write(line, this.#slab, 0), 0) }
  }

  /**
   * Writes the frames of whole lines, from the one at `start` on, into `into` at `intoStart`, as far as they are plain and there is room for certain.
   * `utf8`: all bytes of the lines are known to be UTF-8.
   */
  run(lines: Buffer, start: number, utf8: boolean, into: Buffer, intoStart: number): PlainRun {
    const run = { end: start, lines: 0, length: intoStart }
    while (run.end < lines.length && this.#read(lines, run.end, utf8) && lines[this.#end] === LF) {
      if (run.length + longestGrowth(this.#end - run.end) > into.length) break
      run.length = this.#write(lines, into, run.length)
      run.end = this.#end + 1
      run.lines++
    }
    return run
  }

  #readAll(line: Buffer): boolean {
    if (line.length > LONGEST_LINE || !this.#read(line, 0, false) || this.#end !== line.length) return false
    return line.length <= DEFAULT_LIMITS.fieldBytes || this.#input.count === 0
  }

  /** Looks where the values of a line are, and where it ends. */
  #read(line: Buffer, start: number, utf8: boolean): boolean {
    const type = typeAt(line, start)
    if (type < 0 || !this.#findShape(line, type)) return false
    const { members } = this.#shape
    let at = type + this.#shape.type.length
    this.#text.ascii = true
    this.#values = 0
    this.#fields = 1
    this.#input.clear()
    for (let index = 0; index < members.length; index++) {
      const member = members[index] as Member
      if (line[at] !== COMMA || !standsAt(member.name, line, at)) {
        if (member.key === undefined) return false
        continue
      }
      at = this.#readValue(line, at + member.name.length, index, member)
      if (at < 0) return false
    }
    if (line[at] !== CLOSING_BRACE) return false
    this.#end = at + 1
    this.#fields += 2 * this.#input.count
    return this.#text.ascii || utf8 || isUtf8(line.subarray(start, at))
  }

  /** Gives where the value ends; -1 where it is not plain. */
  #readValue(line: Buffer, start: number, index: number, { key, isJson }: Member): number {
    const quoted = line[start] === QUOTE
    if (isJson && line[start] !== OPENING_BRACE) return -1
    const valueStart = quoted ? start + 1 : start
    const end = quoted ? this.#text.scan(line, valueStart) : isJson ? this.#input.read(line, start, this.#text) : numberEnd(line, start)
    const length = quoted ? this.#text.length : end - start
    if (end < 0 || length > DEFAULT_LIMITS.fieldBytes) return -1
    const span = this.#values++ * SPAN
    this.#spans[span] = index
    this.#spans[span + 1] = valueStart
    this.#spans[span + 2] = end
    this.#spans[span + 3] = length
    this.#fields += key === undefined ? 1 : 2
    return quoted ? end + 1 : end
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
    const { members, head } = this.#shape
    into[start] = STAR
    let at = put(head, into, putNumber(this.#fields, into, start + 1))
    for (let span = 0; span < this.#values * SPAN; span += SPAN) {
      const { key, isJson } = members[this.#spans[span] as number] as Member
      const [valueStart, valueEnd, length] = [this.#spans[span + 1] as number, this.#spans[span + 2] as number, this.#spans[span + 3] as number]
      if (key !== undefined) at = put(key, into, at)
      at = putField(line, valueStart, valueEnd, length, isJson, into, at)
    }
    const { spans, count } = this.#input
    for (let span = 0; span < 2 * count * 3; span += 3)
      at = putField(line, spans[span] as number, spans[span + 1] as number, spans[span + 2] as number, false, into, at)
    return at
  }
}

/** Writes a field whose text stands in `line` from `start` to `end`, as it is or with escapes. Gives its end. */
function putField(line: Buffer, start: number, end: number, length: number, asItIs: boolean, into: Buffer, intoStart: number): number {
  into[intoStart] = DOLLAR
  const at = put(CRLF, into, putNumber(length, into, intoStart + 1))
  if (asItIs || (length > SHORT_BYTES && length === end - start)) line.copy(into, at, start, end)
  else putText(line, start, end, into, at)
  return put(CRLF, into, at + length)
}
