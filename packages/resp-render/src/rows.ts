import { type CellSink, Clusters, isPlain } from './cells.js'
import type { Ink } from './pen.js'

/** Text in one style. */
export type Span = readonly [text: string, style: string]

/** What stands in front of the first row and of the others, the same number of cells each. */
export interface Margin {
  readonly first: readonly Span[]
  readonly rest: readonly Span[]
  /** Cells. */
  readonly cells: number
}

/** A margin of ASCII, or of signs that take one cell each; without `rest` the rows below are indented by as much. */
export function margin(first: string, style: string, rest = ' '.repeat(first.length)): Margin {
  return { first: [[first, style]], rest: [[rest, style]], cells: first.length }
}

/** Stands for the rows that are not shown. */
const MARK = ' …'

/** Cells of a row that has no end: more than any has, and no number that is dear to calculate with. */
export const UNLIMITED = 2 ** 30 - 1

/** Cells of the widest character. */
const WIDEST_CHARACTER = 2

const NO_MARGIN: Margin = { first: [], rest: [], cells: 0 }

export interface RowOptions {
  readonly margin?: Margin
  /** Called before anything is written. */
  readonly begin?: () => void
  /** Only the first row is shown, with a mark where there would be more. */
  readonly single?: boolean
  /** Rows get as long as what is put on them. */
  readonly unlimited?: boolean
}

/** Rows of a given width, one under the other. */
export class Rows {
  /** Cells of a row, its margin not counted: at least 1. */
  readonly width: number
  /** Cells taken on this row. */
  column = 0
  /** The most cells that any row took. */
  widest = 0

  readonly #ink: Ink
  readonly #margin: Margin
  readonly #options: RowOptions
  #cut = false
  #atFirst = true
  #begun = false

  /** `width` in cells, the margin included; on a terminal too narrow for it there is no margin. */
  constructor(ink: Ink, width: number, options: RowOptions = {}) {
    const { margin = NO_MARGIN, single = false, unlimited = false } = options
    this.#ink = ink
    this.#options = options
    this.#margin = margin.cells * 2 > width || width - margin.cells < WIDEST_CHARACTER ? NO_MARGIN : margin
    this.width = unlimited ? UNLIMITED : Math.max(1, width - this.#margin.cells - (single ? MARK.length : 0))
  }

  /** Puts what fits on this row. */
  put(text: string, cells: number, style: string): void {
    this.column += cells
    if (this.column > this.widest) this.widest = this.column
    if (this.#cut) return
    if (!this.#begun) this.#begin(false)
    this.#ink.write(text, style)
  }

  /** Ends this row, empty or not. */
  newline(): void {
    this.column = 0
    if (this.#cut) return
    if (!this.#begun) this.#begin(true)
    if (this.#options.single) {
      this.#ink.write(MARK, this.#margin.rest[0]?.[1] ?? '')
      this.#cut = true
    } else {
      this.#ink.newline()
      this.#begun = false
    }
  }

  /** Ends the last row. */
  end(): void {
    if (this.#begun) this.#ink.newline()
    this.#begun = false
  }

  /** Puts ASCII of any length, cut where the row is full. */
  putPlain(text: string, style: string): void {
    for (let at = 0; at < text.length; ) {
      if (this.column >= this.width) this.newline()
      const end = Math.min(text.length, at + this.width - this.column)
      this.put(text.slice(at, end), end - at, style)
      at = end
    }
  }

  /** Puts a cluster, on the next row if this one has no room. */
  putCluster(text: string, cells: number, style: string): void {
    if (this.column + cells > this.width && this.column > 0) this.newline()
    this.put(text, cells, style)
  }

  /** Puts text of any length that has no line end, cut where the row is full. */
  putText(text: string, style: string): void {
    if (isPlain(text)) {
      this.putPlain(text, style)
      return
    }
    const sink: CellSink = {
      plain: (run) => this.putPlain(run, style),
      cluster: (cluster, cells) => this.putCluster(cluster, cells, style),
    }
    const clusters = new Clusters()
    clusters.push(text, sink)
    clusters.flush(sink)
  }

  #begin(empty: boolean): void {
    if (this.#atFirst) this.#options.begin?.()
    const { first, rest } = this.#margin
    const spans = this.#atFirst ? first : rest
    const shown = empty ? trimmed(spans) : spans
    for (const [text, style] of shown) this.#ink.write(text, style)
    this.#atFirst = false
    this.#begun = true
  }
}

/** Without blanks at the end. */
function trimmed(spans: readonly Span[]): readonly Span[] {
  let end = spans.length
  while (end > 0 && spans[end - 1]?.[0].trim() === '') end--
  return spans.slice(0, end).map(([text, style], index) => [index === end - 1 ? text.trimEnd() : text, style])
}
