import { wholeCharacters } from './cells.js'
import { Graphics } from './graphics.js'
import { OverwrittenLine } from './overwritten-line.js'
import type { TextSink } from './sanitiser.js'

const TAB_STOP = 8
const PLAIN = /^[\x20-\x7e]*$/

/** Text in one style. */
export interface Run {
  readonly text: string
  readonly style: string
}

/** One line as a terminal would show it, or a piece of one that is too long to wait for its end. */
export interface Line {
  readonly runs: readonly Run[]
  /** Characters at its end that were left out. */
  readonly more: number
  /** Whether the line goes on. */
  readonly unfinished: boolean
}

export interface LineOptions {
  /** Characters of a line that are kept. */
  readonly limit: number
  /** What happens past them: they are counted, or the line is handed on in pieces. */
  readonly past: 'count' | 'split'
  /** Whether SGR colours are kept. */
  readonly colours: boolean
}

/**
 * Collects output into lines as a terminal shows them: CR goes back to the beginning of the line, and what comes then
 * replaces what was there, so that of a progress bar the last state is left; BS goes one cell back; TAB goes to the next stop of 8; EL erases.
 * Memory is bounded by the limit of a line.
 */
export class LineBuffer implements TextSink {
  readonly #options: LineOptions
  readonly #each: (line: Line) => void
  readonly #graphics = new Graphics()
  #style = ''
  /** The line while nothing in it was replaced: the cursor stands at its end. */
  #runs: Run[] = []
  #length = 0
  #plain = true
  #more = 0
  /** The line once something was. */
  #overwritten: OverwrittenLine | undefined
  /** A CR that may be half of CRLF. */
  #returned = false

  constructor(options: LineOptions, each: (line: Line) => void) {
    this.#options = options
    this.#each = each
  }

  text(run: string): void {
    let start = 0
    for (let end = run.indexOf('\n'); end >= 0; end = run.indexOf('\n', start)) {
      if (end > start) this.#put(run.slice(start, end))
      this.#endLine()
      start = end + 1
    }
    if (start < run.length) this.#put(start === 0 ? run : run.slice(start))
  }

  tab(): void {
    if (this.#returned || !this.#plain) this.#overwrite()
    if (this.#overwritten) this.#overwritten.tab(TAB_STOP)
    else this.#append(' '.repeat(TAB_STOP - (this.#length % TAB_STOP)))
  }

  carriageReturn(): void {
    this.#returned = true
  }

  back(): void {
    this.#overwrite()
    this.#overwritten?.back()
  }

  graphics(parameters: string): void {
    if (!this.#options.colours) return
    this.#graphics.apply(parameters)
    this.#overwritten?.flush()
    this.#style = this.#graphics.style
  }

  eraseLine(mode: number): void {
    // Programs that colour their output erase to the end at the end of each line.
    if (mode === 0 && !this.#returned && this.#overwritten === undefined) return
    this.#overwrite()
    this.#overwritten?.erase(mode)
  }

  /** The block has ended: what is left is a line, and no colour stays on. */
  end(): void {
    if (this.#length + this.#more > 0 || this.#overwritten) this.#endLine()
    this.#graphics.reset()
    this.#style = ''
  }

  #put(run: string): void {
    if (this.#returned) this.#overwrite()
    if (this.#overwritten) {
      this.#overwritten.put(run, this.#style)
    } else this.#append(run)
  }

  /** From here on the line is kept cell by cell. */
  #overwrite(): void {
    if (this.#overwritten === undefined) {
      const { limit, past } = this.#options
      const full = past === 'split' ? (runs: readonly Run[]) => this.#each({ runs, more: 0, unfinished: true }) : undefined
      this.#overwritten = new OverwrittenLine(limit, full)
      for (const { text, style } of this.#runs) this.#overwritten.put(text, style)
      this.#overwritten.skip(this.#more)
    }
    if (this.#returned) this.#overwritten.home()
    this.#returned = false
  }

  #append(run: string): void {
    const { limit, past } = this.#options
    if (this.#more > 0) {
      this.#more += run.length
      return
    }
    let rest = run
    while (this.#length + rest.length > limit) {
      const fits = limit > this.#length ? wholeCharacters(rest, limit - this.#length) : 0
      this.#keep(rest.slice(0, fits))
      rest = rest.slice(fits)
      if (past === 'count') {
        this.#more += rest.length
        return
      }
      this.#hand(true)
    }
    this.#keep(rest)
  }

  #keep(text: string): void {
    if (text === '') return
    const last = this.#runs.at(-1)
    if (last?.style === this.#style) this.#runs[this.#runs.length - 1] = { text: last.text + text, style: last.style }
    else this.#runs.push({ text, style: this.#style })
    this.#length += text.length
    this.#plain &&= PLAIN.test(text)
  }

  #endLine(): void {
    this.#hand(false)
    this.#returned = false
  }

  #hand(unfinished: boolean): void {
    const line = this.#overwritten
    const runs = line ? line.runs() : this.#runs
    const more = line ? line.more : this.#more
    this.#runs = []
    this.#length = 0
    this.#plain = true
    this.#more = 0
    this.#overwritten = undefined
    this.#each({ runs, more, unfinished })
  }
}
