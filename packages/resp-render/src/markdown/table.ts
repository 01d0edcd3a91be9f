import { cellsOf } from '../cells.js'
import type { Rows, Span } from '../rows.js'
import { Words } from '../words.js'
import { type CellLine, cellLines } from './cell-lines.js'
import type { Container } from './containers.js'
import { Inline, type InlineContext } from './inline.js'
import type { Layout } from './layout.js'
import type { Leaf } from './leaf.js'
import { lineKind } from './line-kinds.js'
import { type Alignment, alignmentsOf, cellsOfRow } from './table-cells.js'
import { type ColumnSize, columnWidths } from './table-widths.js'

/** A table is shown when it has ended, or has so many rows or characters: then its columns are as wide as those need. */
const MOST_ROWS = 200
const MOST_CHARACTERS = 64 * 1024
const MOST_COLUMNS = 100
const BETWEEN = ' │ '
const NO_LINE: CellLine = { spans: [], cells: 0 }
const ANYWHERE = { inParagraph: false, lazy: false, inItem: false, full: false }

/** A line that may be the heads of a table: the next one tells. */
export class TableHead implements Leaf {
  readonly takesLines = true
  readonly #context: InlineContext
  readonly #layout: Layout

  constructor(
    context: InlineContext,
    layout: Layout,
    readonly containers: readonly Container[],
    readonly text: string,
  ) {
    this.#context = context
    this.#layout = layout
  }

  /** The table, if `line` makes it one. */
  table(line: string): Table | undefined {
    const heads = cellsOfRow(this.text)
    const alignments = alignmentsOf(line)
    if (alignments?.length !== heads.length || heads.length > MOST_COLUMNS) return undefined
    return new Table(this.#context, this.#layout, this.containers, alignments, heads)
  }

  end(): void {
    const rows = this.#layout.rows({ containers: this.containers })
    const words = new Words(rows)
    const inline = new Inline(this.#context, words, this.#context.theme.text)
    inline.push(this.text)
    inline.end()
    words.endWord()
    rows.end()
  }
}

/** The table whose heads were shown as text before `delimiters` came, if it makes them that. */
export function tableBelow(context: InlineContext, layout: Layout, containers: readonly Container[], heads: string, delimiters: string): Table | undefined {
  const alignments = alignmentsOf(delimiters)
  const count = cellsOfRow(heads).length
  if (alignments?.length !== count || count < 2 || count > MOST_COLUMNS) return undefined
  return new Table(context, layout, [...containers], alignments, undefined)
}

/** A table: its columns as wide as what is in them, or as there is room for. Where there is too little, each row is a list of what its cells are. */
export class Table implements Leaf {
  readonly takesLines = true
  readonly #context: InlineContext
  readonly #layout: Layout
  readonly #containers: readonly Container[]
  readonly #alignments: readonly Alignment[]
  readonly #heads: readonly string[] | undefined
  /** Rows that are not shown yet, with the lines of their cells where those have all the room that they want. */
  #waiting: Row[] = []
  #characters = 0
  /** The widths of the columns, once they are settled; 'list': there is no room for columns. */
  #widths: readonly number[] | 'list' | undefined
  #shrunk = false
  #rows: Rows | undefined
  #shown = 0

  constructor(
    context: InlineContext,
    layout: Layout,
    containers: readonly Container[],
    alignments: readonly Alignment[],
    heads: readonly string[] | undefined,
  ) {
    this.#context = context
    this.#layout = layout
    this.#containers = containers
    this.#alignments = alignments
    this.#heads = heads
  }

  line(line: string): 'taken' | 'last' | 'not' {
    const rest = line.trim()
    const kind = rest === '' || /^ {4}/.test(line) ? undefined : lineKind(rest, true, ANYWHERE)?.type
    if (kind !== 'text' && kind !== 'row' && kind !== 'definition') return 'not'
    const cells = cellsOfRow(rest)
    const row = this.#row(
      this.#alignments.map((_, index) => cells[index] ?? ''),
      '',
    )
    if (this.#widths) this.#show(row)
    else {
      this.#waiting.push(row)
      this.#characters += line.length
      if (this.#waiting.length >= MOST_ROWS || this.#characters > MOST_CHARACTERS) this.#settle()
    }
    return 'taken'
  }

  end(): void {
    if (!this.#widths) this.#settle()
    this.#rows?.end()
  }

  #settle(): void {
    const { theme } = this.#context
    const heads = this.#heads && this.#row(this.#heads, theme.strong)
    const all = heads ? [heads, ...this.#waiting] : this.#waiting
    const columns = this.#alignments.map((_, index) => sizeOf(all.map(({ lines }) => lines[index] ?? [])))
    const room = this.#layout.width({ containers: this.#containers }) - BETWEEN.length * (columns.length - 1)
    this.#widths = columnWidths(columns, room) ?? 'list'
    this.#shrunk = this.#widths !== 'list' && this.#widths.some((width, index) => width < (columns[index]?.natural ?? 0))
    const list = this.#widths === 'list'
    this.#rows = this.#layout.rows({ containers: this.#containers, apart: this.#heads !== undefined, under: this.#heads === undefined, unlimited: !list })
    if (heads && (!list || this.#waiting.length === 0)) this.#show(heads)
    for (const row of this.#waiting) this.#show(row)
    this.#waiting = []
  }

  #row(cells: readonly string[], style: string): Row {
    return { cells, style, lines: cells.map((cell) => cellLines(this.#context, cell, style)) }
  }

  #show(row: Row): void {
    if (this.#widths === 'list' || this.#widths === undefined) {
      this.#showAsList(row.cells)
      return
    }
    if (this.#shown === 1 && this.#heads) this.#drawRule()
    else if (this.#shown > 0 && this.#shrunk) this.#drawRule()
    this.#shown++
    const widths = this.#widths
    const columns = row.lines.map((lines, index) => this.#wrapped(row, lines, index, widths[index] as number))
    const height = Math.max(1, ...columns.map((lines) => lines.length))
    for (let at = 0; at < height; at++) this.#line(columns, widths, at)
  }

  #wrapped({ cells, style }: Row, lines: readonly CellLine[], index: number, width: number): readonly CellLine[] {
    return lines.every((line) => line.cells <= width) ? lines : cellLines(this.#context, cells[index] as string, style, width)
  }

  #line(columns: readonly (readonly CellLine[])[], widths: readonly number[], at: number): void {
    const { theme } = this.#context
    const spans: Span[] = []
    for (const [index, width] of widths.entries()) {
      const line = columns[index]?.[at] ?? NO_LINE
      const blank = Math.max(0, width - line.cells)
      const alignment = this.#alignments[index]
      const before = alignment === 'right' ? blank : alignment === 'centre' ? blank >> 1 : 0
      if (index > 0) spans.push([BETWEEN, theme.rule])
      spans.push([' '.repeat(before), ''], ...line.spans, [' '.repeat(blank - before), ''])
    }
    this.#put(spans)
  }

  #drawRule(): void {
    const widths = this.#widths as readonly number[]
    this.#put([[widths.map((width) => '─'.repeat(width)).join('─┼─'), this.#context.theme.rule]])
  }

  /** Puts a line, without blanks at its end. */
  #put(spans: readonly Span[]): void {
    const rows = this.#rows as Rows
    let end = spans.length
    while (end > 0 && spans[end - 1]?.[0].trim() === '') end--
    for (const [index, [text, style]] of spans.slice(0, end).entries()) {
      const shown = index === end - 1 ? text.trimEnd() : text
      if (shown !== '') rows.put(shown, 0, style)
    }
    rows.newline()
  }

  /** Each cell behind its head, and rows apart. */
  #showAsList(cells: readonly string[]): void {
    const { theme } = this.#context
    const rows = this.#rows as Rows
    if (this.#shown++ > 0) rows.newline()
    const words = new Words(rows)
    for (const [index, cell] of cells.entries()) {
      const head = this.#heads?.[index] ?? ''
      for (const [text, style] of [
        [head, theme.strong],
        [head === '' || head === cell ? '' : ': ', theme.text],
        [head === cell ? '' : cell, theme.text],
      ] as const) {
        const inline = new Inline(this.#context, words, style)
        inline.push(text)
        inline.end()
      }
      words.newline()
    }
    words.endWord()
    rows.end()
  }
}

interface Row {
  readonly cells: readonly string[]
  readonly style: string
  readonly lines: readonly (readonly CellLine[])[]
}

function sizeOf(cells: readonly (readonly CellLine[])[]): ColumnSize {
  const lines = cells.flat()
  return { natural: Math.max(1, ...lines.map((line) => line.cells)), word: () => longestWord(lines) }
}

function longestWord(lines: readonly CellLine[]): number {
  let longest = 1
  for (const { spans } of lines) {
    const text = spans.map(([piece]) => piece).join('')
    for (const each of text.split(' ')) longest = Math.max(longest, cellsOf(each))
  }
  return longest
}
