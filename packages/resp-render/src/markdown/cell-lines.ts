import { cellsOf } from '../cells.js'
import { type Ink, over } from '../pen.js'
import { Rows, type Span } from '../rows.js'
import { Words } from '../words.js'
import { Inline, type InlineContext } from './inline.js'

/** Lines of a cell of a table, each as its pieces. */
export type CellLines = readonly (readonly Span[])[]

/** What a cell says, wrapped to a width. */
export function cellLines(context: InlineContext, text: string, style: string, width = Number.MAX_SAFE_INTEGER): CellLines {
  const ink = new LineInk()
  const rows = new Rows(ink, width)
  const words = new Words(rows)
  const inline = new Inline(context, words, over(context.theme.text, style))
  inline.push(text)
  inline.end()
  words.endWord()
  rows.end()
  return ink.lines
}

export function lineCells(line: readonly Span[]): number {
  return line.reduce((cells, [text]) => cells + cellsOf(text), 0)
}

class LineInk implements Ink {
  readonly lines: Span[][] = []
  #line: Span[] = []

  write(text: string, style: string): void {
    const last = this.#line.at(-1)
    if (last?.[1] === style) this.#line[this.#line.length - 1] = [last[0] + text, style]
    else this.#line.push([text, style])
  }

  newline(): void {
    this.lines.push(this.#line)
    this.#line = []
  }
}
