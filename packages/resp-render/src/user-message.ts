import type { Frame } from '@agentpipe/frame'
import { wholeCharacters } from './cells.js'
import type { Cap } from './excerpt.js'
import { plural } from './invisible.js'
import { writeWords } from './markdown/spans.js'
import { images } from './notices.js'
import { type Flow, Prose, plainFlow, type WordsOptions } from './prose.js'
import { margin, type Rows } from './rows.js'
import type { Screen } from './screen.js'
import { Words } from './words.js'

/** Lines of a message at its beginning and at its end that are always shown: what is asked stands before or behind what was piped in. */
const HEAD = 14
const TAIL = 6
/** Characters of a line that are shown. */
const LINE_LIMIT = 2000

/** What the user said. Of what is as long as a file only the beginning and the end, unless `cap` is all. */
export function userMessage(screen: Screen, frame: Frame, cap: Cap): void {
  const style = screen.theme.user
  const options = { style, margin: margin('> ', style) }
  const prose = new Prose(screen, cap === 'all' ? plainFlow(screen, options) : (begin) => new Shortened(screen, options, begin))
  prose.push(frame.field(1) as Buffer)
  prose.end()
  images(screen, frame)
}

/** Text of which the lines in the middle are left out, and counted, where it has too many; and the ends of lines that are too long. */
class Shortened implements Flow {
  readonly #rows: Rows
  readonly #words: Words
  readonly #style: string
  readonly #note: string
  #line = ''
  /** Characters of the line that are not shown. */
  #more = 0
  #count = 0
  /** Lines that are shown if they turn out to be the last ones; one more than those, for a note in place of one line saves nothing. */
  #last: (readonly [line: string, more: number])[] = []
  #left = 0

  constructor(screen: Screen, { style, ...options }: WordsOptions, begin: () => void) {
    this.#rows = screen.rows({ ...options, begin })
    this.#words = new Words(this.#rows)
    this.#style = style
    this.#note = screen.theme.note
  }

  write(text: string): void {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) this.newline()
      const room = this.#more > 0 ? 0 : LINE_LIMIT - this.#line.length
      const fits = part.length <= room ? part.length : wholeCharacters(part, room)
      this.#line += part.slice(0, fits)
      this.#more += part.length - fits
    }
  }

  tab(): void {
    this.write('\t')
  }

  newline(): void {
    if (this.#count++ < HEAD) this.#show(this.#line, this.#more)
    else {
      this.#last.push([this.#line, this.#more])
      if (this.#last.length > TAIL + 1) {
        this.#last.shift()
        this.#left++
      }
    }
    this.#line = ''
    this.#more = 0
  }

  end(): void {
    if (this.#line !== '') this.newline()
    if (this.#left > 0) {
      this.#last.shift()
      this.#words.write(`… ${plural(this.#left + 1, 'line')} left out`, this.#note)
      this.#words.newline()
    }
    for (const [line, more] of this.#last) this.#show(line, more)
    this.#words.endWord()
    this.#rows.end()
  }

  #show(line: string, more: number): void {
    writeWords(this.#words, line, this.#style)
    if (more > 0) this.#words.write(` … ${plural(more, 'more character')}`, this.#note)
    this.#words.newline()
  }
}
