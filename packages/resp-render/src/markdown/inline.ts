import type { Theme } from '../theme.js'
import type { Words } from '../words.js'
import { InlineHold } from './inline-hold.js'
import { inlineTokens, type References } from './lexer.js'
import { settledPieces, simplePieces } from './simple-markup.js'
import { Spans, writeWords } from './spans.js'

/** What inline markup is shown with, and what it refers to: the same for a whole message. */
export interface InlineContext {
  readonly theme: Theme
  /** Whether there are colours and the like; else what they mean has to be said by signs. */
  readonly styled: boolean
  /** Whether the terminal takes addresses as OSC 8. */
  readonly links: boolean
  /** Whether code is wrapped. */
  readonly wrapCode: boolean
  readonly references: References
  /** Labels that something in brackets had, but nothing defines so far. */
  readonly undefinedLabels: Set<string>
  /** Links so far. */
  linkCount: number
}

const MARKUP = /[*_~`[\]<&\\]/

/** A text with inline markup that comes in pieces, shown as words. */
export class Inline {
  readonly #context: InlineContext
  readonly #words: Words
  readonly #base: string
  readonly #hold = new InlineHold((text, before) => this.#settled(text, before))

  constructor(context: InlineContext, words: Words, base: string) {
    this.#context = context
    this.#words = words
    this.#base = base
  }

  /** LF ends a line. */
  push(text: string): void {
    const end = this.#hold.settled ? this.#showSimple(text) : 0
    if (end < text.length) this.#hold.push(end === 0 ? text : text.slice(end))
  }

  end(): void {
    this.#hold.end()
  }

  /** Whether all that came is shown. */
  get settled(): boolean {
    return this.#hold.settled
  }

  /** Shows what is settled at the beginning of a text at first sight, and gives where that ends. */
  #showSimple(text: string): number {
    const { pieces, end } = settledPieces(text)
    if (end === 0) return 0
    const spans = new Spans(this.#context, this.#words, this.#base, 0)
    for (const piece of pieces) spans.piece(piece)
    this.#hold.passed(text, end)
    return end
  }

  #settled(text: string, before: string): void {
    if (!MARKUP.test(text)) {
      if (text.includes('://')) new Spans(this.#context, this.#words, this.#base, before.length).text(before + text)
      else writeWords(this.#words, text, this.#base)
      return
    }
    // Emphasis depends on the character in front: it is given to the lexer, and taken away again.
    const context = /[\s*_~`[\]<>&\\!]/.test(before) ? '' : before
    const spans = new Spans(this.#context, this.#words, this.#base, context.length)
    const pieces = simplePieces(context + text)
    if (pieces) for (const piece of pieces) spans.piece(piece)
    else spans.show(inlineTokens(context + text, this.#context.references))
  }
}
