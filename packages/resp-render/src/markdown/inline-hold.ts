import { Delimiters } from './delimiters.js'

/** Text past which no end of what is open is waited for. */
const LONGEST_HELD = 1000
const LONGEST_TAG = 300
const LONGEST_ENTITY = 40

const SPECIAL = /[*_~`[\]<&\\]/g
/** The end of a text that may be, or become, the beginning of an address or an image. */
const UNSETTLED_END = /(?:https?:[!-~]*|https?|htt?|h|(?<=(?:^|[^\\])(?:\\\\)*)!)$/
/** Up to the bracket that ends a label, or begins another. */
const LABEL = /\[(?:[^[\]\\]|\\.)*[[\]]/sy
/**
 * Finds how much of a growing paragraph is settled: what comes later can't change what is said there, since no emphasis, code, link, tag, address
 * or entity is open at its end. It goes over each character once. Emphasis opens and closes by the rules of CommonMark.
 */
export class InlineHold {
  #text = ''
  /** The character in front of the text: emphasis depends on it. */
  #before = ' '
  /** Where to go on. */
  #at = 0
  #settled = 0
  /** Where the last markup ended: no address goes on from in front of it. */
  #closed = 0
  #open = new Delimiters()
  /** A code span that is open: how many backticks, and where to look for its end. */
  #code: { readonly count: number; from: number } | undefined
  readonly #each: (text: string, before: string) => void

  /** `each` is told what is settled, and the character that stood in front of it. */
  constructor(each: (text: string, before: string) => void) {
    this.#each = each
  }

  /** Text came. It is looked at in steps in which no more than what is waited for can come together, so that its pieces make no difference. */
  push(text: string): void {
    for (let start = 0; start < text.length; ) {
      const end = characterEnd(text, start + LONGEST_HELD + 1 - this.#text.length)
      this.#text += text.slice(start, end)
      start = end
      this.#scan()
      this.#give()
      if (this.#text.length > LONGEST_HELD) this.end()
    }
  }

  /** There is no more, or no more is waited for: everything is settled, and nothing is open. */
  end(): void {
    this.#settled = this.#text.length
    this.#open.clear()
    this.#code = undefined
    this.#give()
  }

  /** What stands in a text up to `end` is settled, and was shown. Nothing was waited for. */
  passed(text: string, end: number): void {
    this.#before = lastCharacter(text, end)
  }

  /** Whether nothing is waited for. */
  get settled(): boolean {
    return this.#text === ''
  }

  #give(): void {
    const settled = this.#settled
    if (settled === 0) return
    const text = this.#text.slice(0, settled)
    const before = this.#before
    this.#text = this.#text.slice(settled)
    this.#before = lastCharacter(text, settled)
    this.#at = Math.max(0, this.#at - settled)
    this.#closed = Math.max(0, this.#closed - settled)
    if (this.#code) this.#code.from -= settled
    this.#settled = 0
    this.#each(text, before)
  }

  #scan(): void {
    for (;;) {
      const next = this.#code ? this.#codeEnd(this.#code) : this.#special()
      if (next === undefined) return
      this.#at = next
      this.#settle(next)
    }
  }

  /** Where nothing is open everything up to there is settled, but for an address that goes on. */
  #settle(end: number): void {
    if (!this.#open.empty || this.#code) return
    // No address goes over a blank.
    const start = Math.max(this.#settled, this.#closed, this.#text.lastIndexOf(' ', end - 1) + 1)
    const tail = start < end ? UNSETTLED_END.exec(this.#text.slice(start, end)) : null
    this.#settled = end - (tail?.[0].length ?? 0)
  }

  /** Goes over plain text and one special character; undefined: more has to come. */
  #special(): number | undefined {
    SPECIAL.lastIndex = this.#at
    const match = SPECIAL.exec(this.#text)
    if (match === null) {
      this.#at = this.#text.length
      this.#settle(this.#at)
      return undefined
    }
    const at = match.index
    if (at > this.#at) {
      this.#at = at
      this.#settle(at)
    }
    const sign = match[0]
    if (sign === '\\') return at + 1 < this.#text.length ? at + 2 : undefined
    if (sign === '`') return this.#backticks(at)
    if (sign === '<') return this.#tag(at)
    if (sign === '&') return this.#entity(at)
    if (sign === '[') return this.#bracket(at)
    if (sign === ']') return this.#closeBracket(at)
    return this.#run(at, sign)
  }

  /** The end of a run of one character, or undefined where it may go on. */
  #runEnd(at: number): number | undefined {
    const code = this.#text.charCodeAt(at)
    let end = at + 1
    while (this.#text.charCodeAt(end) === code) end++
    return end < this.#text.length ? end : undefined
  }

  #backticks(at: number): number | undefined {
    const end = this.#runEnd(at)
    if (end !== undefined) this.#code = { count: end - at, from: end }
    return end
  }

  #codeEnd(code: { readonly count: number; from: number }): number | undefined {
    for (;;) {
      const at = this.#text.indexOf('`', code.from)
      if (at < 0) {
        code.from = this.#text.length
        return undefined
      }
      code.from = at
      const end = this.#runEnd(at)
      if (end === undefined) return undefined
      code.from = end
      if (end - at === code.count) {
        this.#code = undefined
        this.#closed = end
        return end
      }
    }
  }

  #tag(at: number): number | undefined {
    const next = this.#text[at + 1]
    if (next === undefined) return undefined
    if (!/[A-Za-z/!?]/.test(next)) return at + 1
    const end = this.#text.slice(at, at + LONGEST_TAG).indexOf('>')
    if (end >= 0) {
      this.#closed = at + end + 1
      return this.#closed
    }
    return this.#text.length - at >= LONGEST_TAG ? at + 1 : undefined
  }

  #entity(at: number): number | undefined {
    const [entity = ''] = /^&#?\w*;?/.exec(this.#text.slice(at, at + LONGEST_ENTITY)) ?? []
    return at + entity.length < this.#text.length || entity.endsWith(';') ? at + entity.length : undefined
  }

  #bracket(at: number): number {
    this.#open.bracket()
    return at + 1
  }

  #closeBracket(at: number): number | undefined {
    if (!this.#open.inBracket) return at + 1
    const next = this.#text[at + 1]
    if (next === undefined) return undefined
    const end = next === '(' ? this.#linkEnd(at + 2) : this.#labelsEnd(at + 1)
    if (end === undefined) return undefined
    this.#open.closeBracket(next === '(')
    if (next === '(') this.#closed = end
    return end
  }

  /** Behind the parenthesis that ends a link. */
  #linkEnd(start: number): number | undefined {
    let depth = 1
    for (let at = start; at < this.#text.length; at++) {
      const character = this.#text[at]
      if (character === '\\') at++
      else if (character === '(') depth++
      else if (character === ')' && --depth === 0) return at + 1
    }
    return undefined
  }

  /** Behind the labels in brackets that follow: `[text][label]`. */
  #labelsEnd(start: number): number | undefined {
    let end = start
    while (this.#text[end] === '[') {
      LABEL.lastIndex = end
      const label = LABEL.exec(this.#text)
      if (label === null) return undefined
      if (!label[0].endsWith(']')) return end
      end += label[0].length
      if (end === this.#text.length) return undefined
    }
    return end
  }

  #run(at: number, sign: string): number | undefined {
    const end = this.#runEnd(at)
    if (end === undefined) return undefined
    const before = at === 0 ? this.#before : lastCharacter(this.#text, at)
    const after = String.fromCodePoint(this.#text.codePointAt(end) as number)
    if (this.#open.run(sign, end - at, before, after)) this.#closed = end
    return end
  }
}

function lastCharacter(text: string, end: number): string {
  const code = text.charCodeAt(end - 1)
  return text.slice(code >= 0xdc00 && code < 0xe000 ? end - 2 : end - 1, end)
}

/** A place that does not cut a surrogate pair, `at` or the next one. */
function characterEnd(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code < 0xdc00 ? at + 1 : Math.min(at, text.length)
}
