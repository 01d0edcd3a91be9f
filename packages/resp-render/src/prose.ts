import { StringDecoder } from 'node:string_decoder'
import type { Margin } from './rows.js'
import { Sanitiser, type TextSink } from './sanitiser.js'
import type { Block, Screen } from './screen.js'
import { Words } from './words.js'

/** Bytes that are decoded at once. */
const SLICE_BYTES = 64 * 1024

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
  readonly #decoder = new StringDecoder('utf8')
  readonly #sanitiser = new Sanitiser()
  readonly #words: Words
  readonly #style: string
  readonly #end: () => void
  #returned = false

  constructor(screen: Screen, { style, ...options }: ProseOptions) {
    const rows = screen.rows({ ...options, begin: () => screen.begin(this) })
    this.#words = new Words(rows)
    this.#end = () => rows.end()
    this.#style = style
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) this.#sanitiser.push(this.#decoder.write(bytes.subarray(at, at + SLICE_BYTES)), this)
  }

  /** Nothing more comes. */
  end(): void {
    this.#sanitiser.push(this.#decoder.end(), this)
    this.#sanitiser.reset()
    this.#words.endWord()
    this.#end()
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
