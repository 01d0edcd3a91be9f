import { StringDecoder } from 'node:string_decoder'
import type { Margin } from './rows.js'
import { Sanitiser, type TextSink } from './sanitiser.js'
import type { Block, Screen } from './screen.js'
import { Words } from './words.js'

/** Bytes that are decoded at once: small pieces are collected up to this, of large ones no more is in hand. */
const SLICE_BYTES = 16 * 1024

export interface ProseOptions {
  readonly style: string
  readonly margin?: Margin
  readonly single?: boolean
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
  readonly #words: Words
  readonly #style: string
  readonly #end: () => void
  /** Pieces that were not looked at yet: they mostly are a word, and looking at many at once is much cheaper. */
  readonly #pieces = Buffer.allocUnsafe(SLICE_BYTES)
  #collected = 0
  #returned = false

  constructor(screen: Screen, { style, ...options }: ProseOptions) {
    const rows = screen.rows({ ...options, begin: () => screen.begin(this) })
    this.#words = new Words(rows)
    this.#end = () => rows.end()
    this.#style = style
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
    this.#words.endWord()
    this.#end()
  }

  #decode(bytes: Buffer): void {
    this.#sanitiser.push(this.#decoder.write(bytes), this)
  }

  text(run: string): void {
    if (this.#returned && !run.startsWith('\n')) this.#words.newline()
    this.#returned = false
    this.#words.write(run, this.#style)
  }

  tab(): void {
    if (this.#returned) this.#words.newline()
    this.#returned = false
    this.#words.tab()
  }

  carriageReturn(): void {
    if (this.#returned) this.#words.newline()
    this.#returned = true
  }
}
