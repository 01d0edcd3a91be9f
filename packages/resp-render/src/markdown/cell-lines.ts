import { cellsOf } from '../cells.js'
import { type Ink, over } from '../pen.js'
import { Rows, type Span, UNLIMITED } from '../rows.js'
import { Words } from '../words.js'
import { Inline, type InlineContext } from './inline.js'

/** A line of a cell of a table: its pieces, and how many cells of the screen they take. */
export interface CellLine {
  readonly spans: readonly Span[]
  readonly cells: number
}

/** ASCII in which there is no markup and no address. */
const PLAIN = /^[ !-%'-)+-9;=-Z^a-}]+$/

/** What a cell says, wrapped to a width. */
export function cellLines(context: InlineContext, text: string, style: string, width = UNLIMITED): readonly CellLine[] {
  const look = over(context.theme.text, style)
  if (text.length <= width && PLAIN.test(text)) return [{ spans: [[text, look]], cells: text.length }]
  const ink = new LineInk()
  const rows = new Rows(ink, width)
  const words = new Words(rows)
  const inline = new Inline(context, words, look)
  inline.push(text)
  inline.end()
  words.endWord()
  rows.end()
  return ink.lines
}

class LineInk implements Ink {
  readonly lines: CellLine[] = []
  #line: Span[] = []

  write(text: string, style: string): void {
    const last = this.#line.at(-1)
    if (last?.[1] === style) this.#line[this.#line.length - 1] = [last[0] + text, style]
    else this.#line.push([text, style])
  }

  newline(): void {
    this.lines.push({ spans: this.#line, cells: this.#line.reduce((cells, [text]) => cells + cellsOf(text), 0) })
    this.#line = []
  }
}
