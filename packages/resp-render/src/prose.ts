import { StringDecoder } from 'node:string_decoder'
import { Markdown } from './markdown/markdown.js'
import type { Margin } from './rows.js'
import { Sanitiser, type TextSink } from './sanitiser.js'
import type { Block, Screen } from './screen.js'
import { Words } from './words.js'

/** Bytes that are decoded at once: small pieces are collected up to this, of large ones no more is in hand. */
const SLICE_BYTES = 16 * 1024

/** What becomes of text: printable characters, and LF, which ends a line. */
export interface Flow {
  write(text: string): void
  tab(): void
  newline(): void
  end(): void
}

export interface WordsOptions {
  readonly style: string
  readonly margin?: Margin
  readonly single?: boolean
}

/** Text without markup, in one style. */
export function plainFlow(screen: Screen, { style, ...options }: WordsOptions): (begin: () => void) => Flow {
  return (begin) => {
    const rows = screen.rows({ ...options, begin })
    const words = new Words(rows)
    return {
      write: (text) => words.write(text, style),
      tab: () => words.tab(),
      newline: () => words.newline(),
      end: () => {
        words.endWord()
        rows.end()
      },
    }
  }
}

export function markdownFlow(screen: Screen, wrapCode: boolean): (begin: () => void) => Flow {
  return (begin) => {
    const markdown = new Markdown(screen, begin, wrapCode)
    return { write: (text) => markdown.push(text), tab: () => markdown.push('\t'), newline: () => markdown.push('\n'), end: () => markdown.end() }
  }
}

/**
 * Text that streams: the same whatever pieces it comes in, cut inside a character too. Nothing is written, and what stands above
 * stays open, before there is something to see. CRLF ends a line, and so does a lone CR: nothing that was said is drawn over.
 */
export class Prose implements Block, TextSink {
  readonly kind = 'prose'
  readonly compact = false
  /** Whether it is finished: what comes then is another block. */
  ended = false
  readonly #decoder = new StringDecoder('utf8')
  readonly #sanitiser = new Sanitiser()
  readonly #flow: Flow
  /** Pieces that were not looked at yet: they mostly are a word, and looking at many at once is much cheaper. */
  readonly #pieces = Buffer.allocUnsafe(SLICE_BYTES)
  #collected = 0
  #returned = false

  constructor(screen: Screen, flow: (begin: () => void) => Flow) {
    this.#flow = flow(() => screen.begin(this))
  }

  push(bytes: Buffer): void {
    if (this.#collected + bytes.length > SLICE_BYTES) this.drain()
    if (bytes.length <= SLICE_BYTES) {
      bytes.copy(this.#pieces, this.#collected)
      this.#collected += bytes.length
    } else for (let at = 0; at < bytes.length; at += SLICE_BYTES) this.#decode(bytes.subarray(at, at + SLICE_BYTES))
  }

  /** Everything that was pushed is to be seen, as far as it can be shown. */
  drain(): void {
    if (this.#collected > 0) this.#decode(this.#pieces.subarray(0, this.#collected))
    this.#collected = 0
  }

  /** Nothing more comes. */
  end(): void {
    if (this.ended) return
    this.ended = true
    this.drain()
    this.#sanitiser.push(this.#decoder.end(), this)
    this.#sanitiser.reset()
    this.#flow.end()
  }

  #decode(bytes: Buffer): void {
    this.#sanitiser.push(this.#decoder.write(bytes), this)
  }

  text(run: string): void {
    if (this.#returned && !run.startsWith('\n')) this.#flow.newline()
    this.#returned = false
    this.#flow.write(run)
  }

  tab(): void {
    if (this.#returned) this.#flow.newline()
    this.#returned = false
    this.#flow.tab()
  }

  carriageReturn(): void {
    if (this.#returned) this.#flow.newline()
    this.#returned = true
  }
}
