import { over } from '../pen.js'
import type { Rows } from '../rows.js'
import { Words } from '../words.js'
import type { Container } from './containers.js'
import { Inline, type InlineContext } from './inline.js'
import type { Layout } from './layout.js'
import type { Flowing } from './leaf.js'
import { drawLine, UNDERLINES } from './rule.js'

/** So much of the last line is remembered: it may turn out to be the heads of a table. */
const LONGEST_LAST_LINE = 1000

/** Text that flows. Its line ends stay: who writes for a screen means them. */
export class Paragraph implements Flowing {
  readonly takesLines = false
  lastLine = ''
  readonly #rows: Rows
  readonly #words: Words
  readonly #inline: Inline

  constructor(context: InlineContext, layout: Layout, containers: readonly Container[]) {
    const quoted = containers.some(({ type }) => type === 'quote')
    this.#rows = layout.rows({ containers })
    this.#words = new Words(this.#rows)
    this.#inline = new Inline(context, this.#words, over(context.theme.text, quoted ? context.theme.quote : ''))
  }

  /** A line after the first one begins with LF. */
  push(text: string): void {
    if (text.startsWith('\n')) this.lastLine = text.slice(1, LONGEST_LAST_LINE)
    else if (this.lastLine.length < LONGEST_LAST_LINE) this.lastLine += text.slice(0, LONGEST_LAST_LINE)
    this.#inline.push(text)
  }

  endLine(): void {
    if (this.#inline.settled) this.#words.endWord()
  }

  end(): void {
    this.close()
  }

  /** Ends it; gives the cells of its widest row. */
  close(): number {
    this.#inline.end()
    this.#words.endWord()
    this.#rows.end()
    return this.#rows.widest
  }
}

/** A line that is a heading. What stands behind it that closes it is no part of it. */
export class Heading implements Flowing {
  readonly takesLines = false
  readonly #context: InlineContext
  readonly #layout: Layout
  readonly #containers: readonly Container[]
  readonly #level: number
  readonly #rows: Rows
  readonly #words: Words
  readonly #inline: Inline
  /** Blanks and `#` that are shown if something follows. */
  #tail = ''
  #empty = true
  #ended = false

  constructor(context: InlineContext, layout: Layout, containers: readonly Container[], level: number) {
    this.#context = context
    this.#layout = layout
    this.#containers = containers
    this.#level = level
    this.#rows = layout.rows({ containers, apart: true })
    this.#words = new Words(this.#rows)
    this.#inline = new Inline(context, this.#words, level === 1 ? context.theme.title : context.theme.heading)
  }

  push(given: string): void {
    const text = this.#empty && this.#tail === '' ? given.trimStart() : given
    const end = endOfText(text)
    if (end > 0) {
      this.#inline.push(this.#tail + text.slice(0, end))
      this.#tail = ''
      this.#empty = false
    }
    this.#tail += text.slice(end)
  }

  endLine(): void {
    if (this.#ended) return
    this.#ended = true
    // A closing sequence stands behind a blank; else it is text.
    const text = this.#empty ? this.#tail.replace(/^\s*#*\s*$/, '') : this.#tail.replace(/(^|\s)\s*#*\s*$/, '')
    this.#inline.push(this.#empty ? text : text.trimEnd())
    this.#inline.end()
    this.#words.endWord()
    this.#rows.end()
    const { widest } = this.#rows
    if (widest > 0 && this.#level <= 2) {
      drawLine(this.#layout.rows({ containers: this.#containers, under: true }), UNDERLINES[this.#level as 1 | 2], widest, this.#context.theme.rule)
      this.#layout.apart()
    }
  }

  end(): void {
    this.endLine()
  }
}

/** Where the blanks and `#` at the end begin. */
function endOfText(text: string): number {
  let end = text.length
  while (end > 0 && ' \t#'.includes(text[end - 1] as string)) end--
  return end
}
