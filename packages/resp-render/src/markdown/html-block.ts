import type { Rows } from '../rows.js'
import type { Theme } from '../theme.js'
import { Words } from '../words.js'
import type { Container } from './containers.js'
import type { Layout } from './layout.js'
import type { Leaf } from './leaf.js'

/** HTML, shown as it stands: what is hidden in a browser is said here too. */
export class HtmlBlock implements Leaf {
  readonly takesLines = true
  readonly #rows: Rows
  readonly #words: Words
  readonly #style: string
  readonly #end: RegExp | undefined

  /** Without `end` it goes to the next empty line. */
  constructor(theme: Theme, layout: Layout, containers: readonly Container[], end: RegExp | undefined) {
    this.#rows = layout.rows({ containers })
    this.#words = new Words(this.#rows)
    this.#style = theme.comment
    this.#end = end
  }

  line(line: string): 'taken' | 'last' | 'not' {
    if (this.#end === undefined && line.trim() === '') return 'not'
    this.#words.write(line.replaceAll('\t', ' '), this.#style)
    this.#words.newline()
    return this.#end?.test(line) ? 'last' : 'taken'
  }

  end(): void {
    this.#words.endWord()
    this.#rows.end()
  }
}
