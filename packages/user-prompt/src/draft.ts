import { after, before } from './graphemes.js'

const WORD = /[\p{L}\p{N}\p{M}_]/u

/** The text that is being written: lines, a cursor between two of its characters, and what was cut out of it last. */
export class Draft {
  #text = ''
  #cursor = 0
  #cut = ''
  /** Cuts one after the other are put back together. */
  #cutting = false

  get text(): string {
    return this.#text
  }

  /** In UTF-16 units. */
  get cursor(): number {
    return this.#cursor
  }

  /** Replaces all of it; the cursor goes to its end. */
  set(text: string, cursor = text.length): void {
    this.#text = text
    this.#cursor = cursor
    this.#cutting = false
  }

  insert(text: string): void {
    this.#replace(this.#cursor, this.#cursor, text)
  }

  /** Puts `text` in place of what stands between `from` and the cursor. */
  replaceFrom(from: number, text: string): void {
    this.#replace(from, this.#cursor, text)
  }

  left(): void {
    this.#move(before(this.#text, this.#cursor))
  }

  right(): void {
    this.#move(after(this.#text, this.#cursor))
  }

  wordLeft(): void {
    this.#move(this.#wordStart())
  }

  wordRight(): void {
    this.#move(this.#wordEnd())
  }

  /** To the beginning of the line. */
  home(): void {
    this.#move(this.#lineStart(this.#cursor))
  }

  /** To the end of the line. */
  end(): void {
    this.#move(this.#lineEnd(this.#cursor))
  }

  /** To the line above or below, about as far to the right. False where there is none. */
  line(step: -1 | 1): boolean {
    const start = this.#lineStart(this.#cursor)
    const end = this.#lineEnd(this.#cursor)
    if (step < 0 ? start === 0 : end === this.#text.length) return false
    const target = step < 0 ? this.#lineStart(start - 1) : end + 1
    const most = this.#lineEnd(target)
    const wanted = clusters(this.#text, start, this.#cursor)
    let at = target
    for (let count = 0; count < wanted && at < most; count++) at = after(this.#text, at)
    this.#move(at)
    return true
  }

  eraseLeft(): void {
    this.#replace(before(this.#text, this.#cursor), this.#cursor, '')
  }

  eraseRight(): void {
    this.#replace(this.#cursor, after(this.#text, this.#cursor), '')
  }

  cutToStart(): void {
    const start = this.#lineStart(this.#cursor)
    this.#cutOut(start < this.#cursor ? start : Math.max(0, start - 1), this.#cursor)
  }

  cutToEnd(): void {
    const end = this.#lineEnd(this.#cursor)
    this.#cutOut(this.#cursor, end > this.#cursor ? end : Math.min(this.#text.length, end + 1))
  }

  cutWordLeft(): void {
    this.#cutOut(this.#wordStart(), this.#cursor)
  }

  cutWordRight(): void {
    this.#cutOut(this.#cursor, this.#wordEnd())
  }

  /** Back to the last blank. */
  cutBlankLeft(): void {
    let at = this.#cursor
    while (at > 0 && /\s/.test(this.#text.charAt(at - 1))) at--
    while (at > 0 && !/\s/.test(this.#text.charAt(at - 1))) at--
    this.#cutOut(at, this.#cursor)
  }

  cutAll(): void {
    this.#cutting = false
    this.#cutOut(0, this.#text.length)
  }

  /** Puts in what was cut out last. */
  paste(): void {
    this.insert(this.#cut)
  }

  #move(to: number): void {
    this.#cursor = to
    this.#cutting = false
  }

  #replace(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to)
    this.#move(from + text.length)
  }

  #cutOut(from: number, to: number): void {
    const text = this.#text.slice(from, to)
    if (text === '') return
    this.#cut = !this.#cutting ? text : from < this.#cursor ? text + this.#cut : this.#cut + text
    this.#replace(from, to, '')
    this.#cutting = true
  }

  #lineStart(at: number): number {
    return at === 0 ? 0 : this.#text.lastIndexOf('\n', at - 1) + 1
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at)
    return end < 0 ? this.#text.length : end
  }

  #wordStart(): number {
    let at = this.#cursor
    const step = (inside: boolean) => {
      for (let next = before(this.#text, at); at > 0 && WORD.test(this.#text.slice(next, at)) === inside; next = before(this.#text, at)) at = next
    }
    step(false)
    step(true)
    return at
  }

  #wordEnd(): number {
    let at = this.#cursor
    const step = (inside: boolean) => {
      for (let next = after(this.#text, at); at < this.#text.length && WORD.test(this.#text.slice(at, next)) === inside; next = after(this.#text, at)) at = next
    }
    step(false)
    step(true)
    return at
  }
}

function clusters(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at = after(text, at)) count++
  return count
}
