import { Words } from '../words.js'
import type { Container } from './containers.js'
import { Inline, type InlineContext } from './inline.js'
import type { Layout } from './layout.js'
import type { Leaf } from './leaf.js'
import { normalised, takeDefinitions } from './lexer.js'

const LONGEST = 4096
const MOST_REFERENCES = 1000

/**
 * Definitions of links. They are not shown, but for those of labels that stand further up: there they were not known to be links. What
 * turns out to be no definition is text.
 */
export class LinkDefinitions implements Leaf {
  readonly takesLines = true
  readonly #context: InlineContext
  readonly #layout: Layout
  readonly #containers: readonly Container[]
  #text = ''

  constructor(context: InlineContext, layout: Layout, containers: readonly Container[]) {
    this.#context = context
    this.#layout = layout
    this.#containers = containers
  }

  line(line: string): 'taken' | 'last' | 'not' {
    // What may go on with it is a title, an address or another definition; whatever else comes is another block.
    if (this.#text !== '' && !/^\s*(?:\[|<|["'(]|[!-~]*\s*$)/.test(line)) return 'not'
    if (line.trim() === '') return 'not'
    this.#text += `${line.trim()}\n`
    return this.#text.length > LONGEST ? 'last' : 'taken'
  }

  end(): void {
    const { references, undefinedLabels, theme } = this.#context
    const known = new Set(Object.keys(references.references ?? {}))
    const rest = known.size < MOST_REFERENCES ? takeDefinitions(this.#text, references) : this.#text
    const rows = this.#layout.rows({ containers: this.#containers })
    const words = new Words(rows)
    for (const [label, { href }] of Object.entries(references.references ?? {})) {
      if (known.has(label) || !undefinedLabels.has(normalised(label))) continue
      words.write(`[${label.toLowerCase()}]: ${href}`, theme.address)
      words.newline()
    }
    const inline = new Inline(this.#context, words, theme.text)
    inline.push(rest)
    inline.end()
    words.endWord()
    rows.end()
  }
}
