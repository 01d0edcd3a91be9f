import { type CellSink, Clusters } from './cells.js'
import type { Rows } from './rows.js'

const LF = 0x0a
const SPACE = 0x20
const TAB_STOP = 8
/** Below it two cells are two letters of an Indic script in one cluster. */
const FIRST_WIDE = 0x2300
/** More empty lines than this are not shown. */
const MOST_BREAKS = 3

/** Part of a word in one style. */
interface Run {
  text: string
  cells: number
  readonly style: string
  /** ASCII only. */
  readonly plain: boolean
}

/**
 * Text that flows: wrapped at words, however it comes in pieces. A word is shown when it is known to fit its row, and at once
 * where it would stay on this row however long it gets: first on the row. What is longer than a row is cut.
 */
export class Words implements CellSink {
  readonly #rows: Rows
  readonly #clusters = new Clusters()
  #style = ''
  /** Line ends, then spaces, that are only shown in front of something. */
  #breaks = 0
  #spaces = 0
  #spaceStyle = ''
  /** The word that is growing, and is not shown yet. */
  #word: Run[] = []
  #wordCells = 0
  /** Part of the growing word is on the row already. */
  #flowing = false
  #empty = true

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** Whether nothing was shown. */
  get empty(): boolean {
    return this.#empty
  }

  /** Printable text; LF ends a line. */
  write(text: string, style: string): void {
    if (style !== this.#style) this.#clusters.flush(this)
    this.#style = style
    this.#clusters.push(text, this)
  }

  tab(): void {
    this.endWord()
    const column = this.#breaks > 0 ? 0 : this.#rows.column
    if (this.#spaces === 0) this.#spaceStyle = this.#style
    this.#spaces += TAB_STOP - ((column + this.#spaces) % TAB_STOP)
  }

  newline(): void {
    this.#clusters.flush(this)
    this.#endLine()
  }

  /** Nothing can go on with the last word: it is shown. */
  endWord(): void {
    this.#clusters.flush(this)
    this.#endWord()
  }

  plain(text: string): void {
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at)
      if (code === LF) {
        this.#endLine()
        at++
      } else if (code === SPACE) {
        this.#endWord()
        if (this.#spaces++ === 0) this.#spaceStyle = this.#style
        at++
      } else {
        const fitting = this.#fitting(text, at)
        const end = fitting > at ? fitting : wordEnd(text, at)
        if (fitting > at) this.#putWords(text.slice(at, end))
        else this.#extend(text.slice(at, end), end - at, true)
        at = end
      }
    }
  }

  /** Where the last word ends of those that fit this row whole, if what begins at `start` is a word behind others on it. */
  #fitting(text: string, start: number): number {
    const { column, width } = this.#rows
    if (column === 0 || this.#flowing || this.#breaks > 0 || this.#word.length > 0) return start
    const full = start + width - column - this.#spaces
    const lineEnd = text.indexOf('\n', start)
    const limit = lineEnd < 0 ? text.length : lineEnd
    // What stands at the end of the text may go on.
    let end = full >= limit && lineEnd >= 0 ? lineEnd : text.lastIndexOf(' ', Math.min(full, limit - 1))
    while (end > start && text.charCodeAt(end - 1) === SPACE) end--
    return end
  }

  /** Puts whole words, and the blanks between them, that fit this row. */
  #putWords(words: string): void {
    if (this.#spaces > 0) this.#putSpaces()
    this.#rows.put(words, words.length, this.#style)
    this.#empty = false
  }

  cluster(text: string, cells: number): void {
    // A row may end before and behind a wide character: scripts that have them do without spaces.
    const wide = cells === 2 && text.charCodeAt(0) >= FIRST_WIDE
    if (wide) this.#endWord()
    if (cells === 0 && this.#belongsToRow()) this.#rows.put(text, 0, this.#style)
    else this.#extend(text, cells, false)
    if (wide) this.#endWord()
  }

  /** Whether an accent that comes now belongs to what was shown last. */
  #belongsToRow(): boolean {
    return this.#word.length === 0 && this.#spaces === 0 && this.#breaks === 0 && this.#rows.column > 0
  }

  #extend(text: string, cells: number, plain: boolean): void {
    if (this.#flowing) {
      this.#put({ text, cells, plain, style: this.#style })
      return
    }
    this.#breakLines()
    const { column, width } = this.#rows
    if (column > 0 && column + this.#spaces + this.#wordCells + cells > width) {
      this.#rows.newline()
      this.#spaces = 0
    }
    this.#grow(text, cells, plain)
    if (this.#rows.column === 0) this.#show()
  }

  #breakLines(): void {
    for (; this.#breaks > 0; this.#breaks--) this.#rows.newline()
  }

  #grow(text: string, cells: number, plain: boolean): void {
    const last = this.#word.at(-1)
    if (last !== undefined && last.style === this.#style && last.plain === plain) {
      last.text += text
      last.cells += cells
    } else this.#word.push({ text, cells, plain, style: this.#style })
    this.#wordCells += cells
  }

  /** Shows what there is of the growing word. It belongs to this row from now on. */
  #show(): void {
    if (this.#spaces > 0) this.#putSpaces()
    for (const run of this.#word) this.#put(run)
    this.#word = []
    this.#wordCells = 0
    this.#flowing = true
    this.#empty = false
  }

  #putSpaces(): void {
    const { column, width } = this.#rows
    // An indentation that leaves no room is shortened: the text is what counts.
    const spaces = column === 0 ? Math.min(this.#spaces, width >> 1, Math.max(0, width - 2)) : this.#spaces
    if (spaces > 0) this.#rows.put(' '.repeat(spaces), spaces, this.#spaceStyle)
    this.#spaces = 0
  }

  #put({ text, cells, style, plain }: Run): void {
    if (this.#rows.column + cells <= this.#rows.width) this.#rows.put(text, cells, style)
    else if (plain) this.#rows.putPlain(text, style)
    else this.#rows.putText(text, style)
  }

  #endLine(): void {
    this.#endWord()
    this.#spaces = 0
    if (!this.#empty && this.#breaks < MOST_BREAKS) this.#breaks++
  }

  #endWord(): void {
    if (this.#word.length > 0) this.#show()
    this.#flowing = false
  }
}

function wordEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === SPACE || code === LF) return at
  }
  return text.length
}
