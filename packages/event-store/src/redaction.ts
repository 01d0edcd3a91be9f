import { isUtf8 } from 'node:buffer'
import { encodeFrame, Frame } from '@agentpipe/frame'
import { parseObject, repeatedMembers } from '@agentpipe/message'
import { usage } from '@agentpipe/stage'

const REPLACEMENT = '[redacted]'

/** What in a pattern may match the end of a line. */
const OVER_LINES = /\n|\\[nrsWDPxuc]|\[\^/

/** A part of a text that is not to be recorded: from `start` to `end`, in UTF-16 units. */
interface Span {
  readonly start: number
  readonly end: number
}

/** What is not to reach the disk. */
export class Redaction {
  /** Whether a match may go over several lines. */
  readonly overLines: boolean
  readonly #patterns: readonly RegExp[]

  /** Throws StageError (64) for a pattern that is no regular expression, or that matches nothing at all. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map(compiled)
    this.overLines = patterns.some((source) => OVER_LINES.test(source))
  }

  /** A text without what matches. */
  text(text: string): string {
    return this.pieces([text])[0] as string
  }

  /**
   * The pieces of one text without what matches in the whole: a match that goes over several is in none of them. `count`: only matches that begin
   * in so many of them count; what follows may make others of the rest.
   */
  pieces(pieces: readonly string[], count = pieces.length): string[] {
    const whole = pieces.join('')
    const from = pieces.slice(0, count).reduce((sum, { length }) => sum + length, 0)
    const spans = this.#spansIn(whole).filter((span) => span.start < from)
    if (spans.length === 0) return [...pieces]
    let start = 0
    return pieces.map((piece) => {
      const end = start + piece.length
      const left = withoutSpans(whole, spans, start, end)
      start = end
      return left
    })
  }

  /** A frame without what matches in any of its fields but the type; JSON that it holds stays JSON. */
  frame(frame: Frame): Frame {
    const given = frame.fields()
    const fields = given.map((field, index) => (index === 0 ? field : this.#field(field)))
    if (frame.type === 'TOOL_CALL') this.#call(frame, fields)
    if (given.every((field, index) => field === fields[index]) && given.length === fields.length) return frame
    const bytes = encodeFrame(fields)
    return new Frame(bytes, 0, bytes.length, frame.offset)
  }

  /** Strings in a call's input may be written in several ways: it is looked at as what it means. */
  #call(frame: Frame, fields: Buffer[]): void {
    const input = frame.text(3) ?? ''
    const object = parseObject(input)
    if (object === undefined) return
    const text = JSON.stringify(object, (_, value) => (typeof value === 'string' ? this.text(value) : value))
    if (text === JSON.stringify(object)) return
    fields[3] = this.#field(Buffer.from(text))
    const derived = repeatedMembers(input)
    const own = frame.fields().slice(4)
    const start = own.length - derived.length
    if (derived.every((field, index) => own[start + index]?.equals(Buffer.from(field)))) {
      fields.splice(4 + start, derived.length, ...repeatedMembers(fields[3].toString()).map((field) => Buffer.from(field)))
    }
  }

  /** Octets that are no text are looked at as Latin-1: what is ASCII in them is found. */
  #field(field: Buffer): Buffer {
    const encoding = isUtf8(field) ? 'utf8' : 'latin1'
    const given = field.toString(encoding)
    const left = this.text(given)
    return left === given ? field : Buffer.from(left, encoding)
  }

  /** What any pattern matches, in order, without overlap. */
  #spansIn(text: string): Span[] {
    const all: Span[] = []
    for (const pattern of this.#patterns) {
      for (const match of text.matchAll(pattern)) if (match[0] !== '') all.push({ start: match.index, end: match.index + match[0].length })
    }
    all.sort((one, other) => one.start - other.start)
    const joined: Span[] = []
    for (const span of all) {
      const last = joined.at(-1)
      if (last !== undefined && span.start < last.end) joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
      else joined.push(span)
    }
    return joined
  }
}

/** The part `from` to `to` of a text; in place of each span that begins in it stands the replacement. */
function withoutSpans(text: string, spans: readonly Span[], from: number, to: number): string {
  let left = ''
  let at = from
  for (const { start, end } of spans) {
    if (end <= from || start >= to) continue
    if (start >= from) left += text.slice(at, start) + REPLACEMENT
    at = Math.min(end, to)
  }
  return left + text.slice(at, to)
}

function compiled(source: string): RegExp {
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'gu')
  } catch {
    // The pattern may be the secret itself: it is not repeated.
    throw usage('--redact: not a regular expression as JavaScript has them')
  }
  if (pattern.test('')) throw usage('--redact: expected a pattern that does not match the empty text')
  pattern.lastIndex = 0
  return pattern
}
