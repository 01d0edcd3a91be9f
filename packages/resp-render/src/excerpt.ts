import { plural } from './invisible.js'
import type { Line } from './line-buffer.js'
import type { Rows } from './rows.js'
import type { Theme } from './theme.js'

/** How many lines of a tool's output are shown: a number, or all. */
export type Cap = number | 'all'

/** From this many on, a third of the lines that are shown are the last ones. */
const SMALLEST_WITH_END = 6

/**
 * The lines of a text that may be too many: the first ones as they come, the last ones when it has ended, and between them how
 * many were left out, unless all are to be. Empty lines at the beginning and the end are none.
 */
export class Excerpt {
  readonly #head: number
  readonly #tail: number
  readonly #print: (line: Line) => void
  #count = 0
  #held: Line[] = []
  #left = 0
  #begun = false
  /** Empty lines that are only lines if another follows. */
  #empty = 0

  constructor(cap: Cap, print: (line: Line) => void) {
    const lines = cap === 'all' ? Number.POSITIVE_INFINITY : cap
    this.#tail = cap === 'all' || cap < SMALLEST_WITH_END ? 0 : Math.floor(cap / 3)
    this.#head = lines - this.#tail
    this.#print = print
  }

  line(line: Line): void {
    if (isEmpty(line)) {
      if (this.#begun) this.#empty++
      return
    }
    this.#begun = true
    for (; this.#empty > 0; this.#empty--) this.#take(EMPTY)
    this.#take(line)
  }

  /** Gives what is to be shown at the end; `left` is told how many lines were left out, if any were. */
  end(left: (count: number) => void): void {
    if (this.#left > 0 && this.#head > 0) left(this.#left)
    for (const line of this.#held) this.#print(line)
    this.#held = []
    this.#left = 0
  }

  #take(line: Line): void {
    if (this.#count < this.#head) {
      if (!line.unfinished) this.#count++
      this.#print(line)
      return
    }
    this.#held.push(line)
    if (this.#held.length <= this.#tail) return
    this.#held.shift()
    this.#left++
  }
}

const EMPTY: Line = { runs: [], more: 0, unfinished: false }

function isEmpty({ runs, more, unfinished }: Line): boolean {
  return !unfinished && more === 0 && runs.every(({ text }) => text.trim() === '')
}

/** Prints one line of output; `style` is for what has none of its own. */
export function printLine(rows: Rows, { runs, more, unfinished }: Line, lineStyle: string, theme: Theme): void {
  runs.forEach(({ text, style }, index) => {
    const last = index === runs.length - 1 && !unfinished && more === 0 && style === ''
    rows.putText(last ? text.trimEnd() : text, style === '' ? lineStyle : style)
  })
  if (more > 0) rows.putText(` … ${plural(more, 'more character')}`, theme.note)
  if (!unfinished) rows.newline()
}

/** Prints how many lines stand in for. */
export function printLeft(rows: Rows, count: number, theme: Theme): void {
  rows.putText(`… ${plural(count, 'line')} left out`, theme.note)
  rows.newline()
}
