import { isPlain } from '../cells.js'
import { over } from '../pen.js'
import type { Rows } from '../rows.js'
import type { Container } from './containers.js'
import { Highlighter } from './highlighter.js'
import type { InlineContext } from './inline.js'
import type { Layout } from './layout.js'
import type { Leaf } from './leaf.js'

const INDENT = 2
const TAB_STOP = 4

interface Fence {
  readonly mark: string
  readonly length: number
  readonly language: string
}

/** Code: its lines as they are, in the colours of its language. */
export class CodeBlock implements Leaf {
  readonly takesLines: boolean
  readonly #rows: Rows
  readonly #context: InlineContext
  readonly #fence: Fence | undefined
  readonly #highlighter: Highlighter
  /** Empty lines that are only shown in front of another. */
  #empty = 0
  #begun = false

  /** Without a fence it is code by its indentation. */
  constructor(context: InlineContext, layout: Layout, containers: readonly Container[], fence?: Fence) {
    this.#context = context
    this.#fence = fence
    this.takesLines = fence !== undefined
    this.#rows = layout.rows({ containers, apart: true, indent: INDENT, unlimited: !context.wrapCode })
    this.#highlighter = new Highlighter(context.styled ? (fence?.language ?? '') : '')
  }

  line(line: string): 'taken' | 'last' | 'not' {
    if (this.#fence && isEnd(line, this.#fence)) return 'last'
    if (line.trim() === '') {
      this.#highlighter.blankLine()
      if (this.#begun) this.#empty++
      return 'taken'
    }
    this.#begun = true
    for (; this.#empty > 0; this.#empty--) this.#rows.newline()
    const { theme } = this.#context
    const code = tabbed(line)
    const plain = isPlain(code)
    this.#highlighter.line(code, (text, role) => {
      const style = role === undefined ? theme.text : over(theme.text, theme[role])
      if (plain) this.#rows.putPlain(text, style)
      else this.#rows.putText(text, style)
    })
    this.#rows.newline()
    return 'taken'
  }

  end(): void {
    this.#rows.end()
  }
}

function isEnd(line: string, { mark, length }: Fence): boolean {
  const text = line.trim()
  return text.length >= length && text[0] === mark && text === mark.repeat(text.length) && /^ {0,3}\S/.test(line)
}

function tabbed(line: string): string {
  if (!line.includes('\t')) return line
  let text = ''
  for (const [index, part] of line.split('\t').entries()) text += index === 0 ? part : ' '.repeat(TAB_STOP - (text.length % TAB_STOP)) + part
  return text
}
