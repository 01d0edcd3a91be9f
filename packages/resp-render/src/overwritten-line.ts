import { Clusters } from './cells.js'
import type { Run } from './line-buffer.js'

/** One cell of a row: what stands in it ('' is the right half of a wide character), and how. */
interface Cell {
  text: string
  style: string
}

const BLANK = { text: ' ', style: '' }
/** Accents on one character that are kept. */
const LONGEST_CELL = 48

/** A line of a terminal, cell by cell, with a cursor: what a program draws over what it drew before. */
export class OverwrittenLine {
  readonly #clusters = new Clusters()
  readonly #limit: number
  readonly #full: ((runs: readonly Run[]) => void) | undefined
  #cells: Cell[] = []
  #cursor = 0
  #style = ''
  /** Cells past the limit that were written to. */
  #past = 0

  /** At most `limit` cells are kept. With `full` a line that gets longer is handed to it, and goes on from nothing. */
  constructor(limit: number, full?: (runs: readonly Run[]) => void) {
    this.#limit = limit
    this.#full = full
  }

  /** Cells that were left out. */
  get more(): number {
    this.flush()
    return this.#past
  }

  put(text: string, style: string): void {
    this.#style = style
    this.#clusters.push(text, this)
  }

  /** Text that comes next does not go on with the last character. */
  flush(): void {
    this.#clusters.flush(this)
  }

  plain(text: string): void {
    for (const character of text) this.cluster(character, 1)
  }

  cluster(text: string, cells: number): void {
    if (cells === 0) {
      this.#combine(text)
      return
    }
    if (this.#full && this.#cursor + cells > this.#limit) this.#handOn(this.#full)
    const end = this.#cursor + cells
    if (end > this.#limit) this.#past = Math.max(this.#past, end - this.#limit)
    else {
      this.#clearHalves(this.#cursor, end)
      for (let at = this.#cells.length; at < this.#cursor; at++) this.#cells.push({ ...BLANK })
      this.#cells[this.#cursor] = { text, style: this.#style }
      if (cells === 2) this.#cells[this.#cursor + 1] = { text: '', style: this.#style }
    }
    this.#cursor = end
  }

  tab(stop: number): void {
    this.flush()
    this.#cursor += stop - (this.#cursor % stop)
  }

  back(): void {
    this.flush()
    this.#cursor = Math.max(0, this.#cursor - 1)
  }

  home(): void {
    this.flush()
    this.#cursor = 0
  }

  /** Goes on behind `cells` cells that were left out. */
  skip(cells: number): void {
    if (cells === 0) return
    this.flush()
    this.#past = cells
    this.#cursor = this.#limit + cells
  }

  /** 0: from the cursor to the end, 1: to the cursor, 2: everything. */
  erase(mode: number): void {
    this.flush()
    if (mode !== 1) this.#past = mode === 2 ? 0 : Math.min(this.#past, Math.max(0, this.#cursor - this.#limit))
    if (mode === 2) this.#cells = []
    else if (mode === 0) this.#cells.length = Math.min(this.#cells.length, this.#cursor)
    else for (let at = 0; at <= this.#cursor && at < this.#cells.length; at++) this.#cells[at] = { ...BLANK }
  }

  /** What stands there now. */
  runs(): Run[] {
    this.flush()
    return this.#runs()
  }

  #handOn(full: (runs: readonly Run[]) => void): void {
    full(this.#runs())
    this.#cells = []
    this.#cursor = 0
  }

  #runs(): Run[] {
    const runs: { text: string; style: string }[] = []
    for (const { text, style } of this.#cells) {
      const last = runs.at(-1)
      if (last?.style === style) last.text += text
      else runs.push({ text, style })
    }
    return runs
  }

  #combine(text: string): void {
    const at = this.#cells[this.#cursor - 1]?.text === '' ? this.#cursor - 2 : this.#cursor - 1
    const cell = this.#cells[at]
    if (cell !== undefined && cell.text.length + text.length <= LONGEST_CELL) cell.text += text
  }

  /** Half a wide character is no character: what is left of one that is half replaced is blank. */
  #clearHalves(start: number, end: number): void {
    if (this.#cells[start]?.text === '') this.#cells[start - 1] = { ...BLANK }
    if (this.#cells[end]?.text === '') this.#cells[end] = { ...BLANK }
  }
}
