import type { Screen } from '../screen.js'
import { Blocks } from './blocks.js'

/** A line that gets longer is taken in pieces. */
const LONGEST_LINE = 16 * 1024
/** So many blanks at the beginning of a line count. */
const MOST_BLANKS = 300

/**
 * Markdown that streams. Its structure is found line by line: a line is waited for only as long as it isn't known what it begins; then what it says is
 * shown as it comes. Whatever is shown stays: what a later line changes of an earlier one, as an underline makes it a heading, shows where it
 * stands. The cost of a piece does not depend on what came before.
 */
export class Markdown {
  readonly #blocks: Blocks
  /** The line so far, as long as it isn't known what it begins. */
  #line = ''
  /** The line goes on behind a piece of it that was taken as a line: it was too long. */
  #cut = false

  /** `begin` is called before the first thing is shown. */
  constructor(screen: Screen, begin: () => void, wrapCode: boolean) {
    this.#blocks = new Blocks(screen, begin, wrapCode)
  }

  /** Printable text, TAB and LF, which ends a line. */
  push(text: string): void {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      // A line that has come as a whole is taken as a whole.
      if (end >= 0 && !this.#blocks.flowing && this.#line.length + end - at < LONGEST_LINE) this.#line += text.slice(at, end)
      else this.#piece(end < 0 ? text.slice(at) : text.slice(at, end))
      if (end < 0) return
      this.#endLine()
      at = end + 1
    }
  }

  /** There is no more. */
  end(): void {
    if (this.#line !== '' || this.#blocks.flowing) this.#endLine()
    this.#blocks.end()
  }

  #piece(piece: string): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#blocks.flowing) {
        this.#blocks.flowing.push(at === 0 ? piece : piece.slice(at))
        return
      }
      const end = at + LONGEST_LINE - this.#line.length
      this.#line += piece.slice(at, end)
      at = end
      this.#look()
    }
  }

  /** The line has got longer. */
  #look(): void {
    if (this.#line.length >= LONGEST_LINE) {
      const line = this.#line
      this.#line = ''
      this.#take(line, true)
      this.#cut = true
    } else if (this.#cut || this.#blocks.takesLines) return
    else if (this.#line.trim() === '') this.#line = this.#line.slice(0, MOST_BLANKS)
    else if (this.#take(this.#line, false)) this.#line = ''
  }

  #endLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#blocks.flowing) this.#blocks.flowing.endLine()
    else if (line !== '' || !this.#cut) this.#take(line, true)
    this.#blocks.flowing = undefined
    this.#cut = false
  }

  #take(line: string, complete: boolean): boolean {
    return this.#blocks.take(clipped(line), complete, this.#cut)
  }
}

function clipped(line: string): string {
  if (line.length <= MOST_BLANKS) return line
  const text = line.search(/[^ \t]/)
  return text < 0 || text > MOST_BLANKS ? line.slice(0, MOST_BLANKS) + (text < 0 ? '' : line.slice(text)) : line
}
