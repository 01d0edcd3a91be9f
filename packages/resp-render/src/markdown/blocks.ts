import type { Screen } from '../screen.js'
import { CodeBlock } from './code-block.js'
import { type Container, DEEPEST, expanded, matchContainers, spacesAt } from './containers.js'
import { HtmlBlock } from './html-block.js'
import type { InlineContext } from './inline.js'
import { asTask, newItem } from './items.js'
import { Layout } from './layout.js'
import type { Flowing, Leaf } from './leaf.js'
import { type LineKind, lineKind, type Place } from './line-kinds.js'
import { LinkDefinitions } from './link-definitions.js'
import { Heading, Paragraph } from './paragraph.js'
import { drawLine, UNDERLINES } from './rule.js'
import { TableHead, tableBelow } from './table.js'

const CODE_INDENT = 4
const TASK_LENGTH = 3

/** The blocks of a message, found line by line. Whatever is shown stays: what a later line changes of an earlier one shows where it stands. */
export class Blocks {
  /** What the rest of a line goes to that was taken before it was complete. */
  flowing: Flowing | undefined
  readonly #context: InlineContext
  readonly #layout: Layout
  #open: Container[] = []
  #leaf: Leaf | undefined

  /** `begin` is called before the first thing is shown. */
  constructor(screen: Screen, begin: () => void, wrapCode: boolean) {
    const { theme, styled, links } = screen
    this.#layout = new Layout(screen, begin)
    this.#context = { theme, styled, links, wrapCode, references: {}, undefinedLabels: new Set(), linkCount: 0 }
  }

  /** Whether the block that is open is given whole lines. */
  get takesLines(): boolean {
    return this.#leaf?.takesLines === true
  }

  /** There are no more lines. */
  end(): void {
    this.#closeLeaf()
    this.#closeContainers(0)
  }

  /** Takes a line, or what there is of it; false: more of it has to come. `cut`: it goes on with a line that was too long. */
  take(given: string, complete: boolean, cut: boolean): boolean {
    const line = expanded(given)
    const match = cut ? { matched: this.#open.length, at: 0 } : matchContainers(this.#open, line, complete)
    if (match === undefined) return false
    const { matched, at } = match
    if (this.#leaf?.takesLines && complete && this.#taken(line.slice(at), matched === this.#open.length)) return true
    return this.#block(line, at, matched, complete)
  }

  /** Whether the block that is open takes the line. */
  #taken(line: string, inside: boolean): boolean {
    if (this.#leaf instanceof TableHead) {
      const table = inside ? this.#leaf.table(line) : undefined
      this.#leaf = table ?? this.#asParagraph(this.#leaf)
      return table !== undefined
    }
    const taken = inside ? this.#leaf?.line?.(line) : 'not'
    if (taken === 'last') this.#closeLeaf()
    return taken !== 'not'
  }

  /** Goes over the markers of a line to the block that it begins or goes on with. */
  #block(line: string, start: number, matched: number, complete: boolean): boolean {
    const opened: Container[] = []
    const all = matched === this.#open.length
    let inItem = false
    for (let at = start; ; ) {
      const indent = spacesAt(line, at)
      const rest = line.slice(at + indent)
      if (rest === '') {
        if (complete) this.#blankLine(line.slice(start), matched, opened)
        return complete
      }
      const goesOn = this.#leaf instanceof Paragraph && opened.length === 0
      if (indent >= CODE_INDENT && !goesOn) {
        if (complete) this.#indented(line.slice(at + CODE_INDENT), matched, opened)
        return complete
      }
      const full = matched + opened.length >= DEEPEST
      const place: Place = { inParagraph: goesOn && all, lazy: goesOn && !all, inItem, full }
      const kind: LineKind | undefined = indent >= CODE_INDENT ? { type: 'text' } : lineKind(rest, complete, place)
      if (kind === undefined) return false
      at += indent
      inItem = kind.type === 'item'
      if (kind.type === 'quote') {
        if (rest.length === 1 && !complete) return false
        at += line[at + 1] === ' ' ? 2 : 1
        opened.push({ type: 'quote' })
      } else if (kind.type === 'item') {
        const spaces = spacesAt(line, at + kind.marker)
        if (kind.empty && !complete) return false
        const gap = kind.empty || spaces > CODE_INDENT ? 1 : spaces
        opened.push(
          newItem(kind, indent + kind.marker + gap, [...this.#open.slice(0, matched), ...opened], opened.length === 0 ? this.#open[matched] : undefined),
        )
        at = kind.empty ? line.length : at + kind.marker + gap
      } else if (kind.type === 'task') {
        const item = opened.at(-1)
        if (item?.type === 'item') opened[opened.length - 1] = asTask(item, kind.done)
        at += TASK_LENGTH + spacesAt(line, at + TASK_LENGTH)
      } else {
        this.#leafLine(kind, rest, matched, opened, place, complete)
        return true
      }
    }
  }

  #leafLine(kind: LineKind, rest: string, matched: number, opened: readonly Container[], { inParagraph, lazy }: Place, complete: boolean): void {
    const { theme } = this.#context
    const paragraph = this.#leaf instanceof Paragraph && (inParagraph || lazy) ? this.#leaf : undefined
    if (kind.type === 'row' && paragraph !== undefined && !rest.startsWith('|')) {
      const table = inParagraph ? tableBelow(this.#context, this.#layout, this.#open, paragraph.lastLine, rest) : undefined
      if (table) {
        this.#closeLeaf()
        this.#leaf = table
        return
      }
    }
    const isText = kind.type === 'text' || (kind.type === 'row' && !(rest.startsWith('|') && !lazy))
    if (isText && paragraph) {
      paragraph.push(`\n${rest}`)
      this.#flow(paragraph, complete)
      return
    }
    if (kind.type === 'underline' && paragraph) {
      const cells = paragraph.close()
      this.#leaf = undefined
      drawLine(this.#layout.rows({ containers: this.#open, under: true }), UNDERLINES[kind.level], cells, theme.rule)
      this.#layout.apart()
      return
    }
    this.#settle(matched, opened)
    const placement = { containers: [...this.#open] }
    switch (kind.type) {
      case 'heading': {
        const heading = new Heading(this.#context, this.#layout, placement.containers, kind.level)
        heading.push(rest.slice(kind.marker).trimStart())
        this.#leaf = heading
        this.#flow(heading, complete)
        return
      }
      case 'rule': {
        const rows = this.#layout.rows({ ...placement, apart: true })
        drawLine(rows, UNDERLINES[2], rows.width, theme.rule)
        return
      }
      case 'fence':
        this.#leaf = new CodeBlock(this.#context, this.#layout, placement.containers, kind)
        return
      case 'html':
        this.#beginLeaf(new HtmlBlock(theme, this.#layout, placement.containers, kind.end), rest)
        return
      case 'definition':
        this.#beginLeaf(new LinkDefinitions(this.#context, this.#layout, placement.containers), rest)
        return
      case 'row':
        if (rest.startsWith('|')) {
          this.#leaf = new TableHead(this.#context, this.#layout, placement.containers, rest)
          return
        }
    }
    const fresh = new Paragraph(this.#context, this.#layout, placement.containers)
    fresh.push(rest)
    this.#leaf = fresh
    this.#flow(fresh, complete)
  }

  /** A block that takes lines, and its first one. */
  #beginLeaf(leaf: HtmlBlock | LinkDefinitions, line: string): void {
    this.#leaf = leaf
    if (leaf.line(line) === 'last') this.#closeLeaf()
  }

  #flow(flowing: Flowing, complete: boolean): void {
    if (complete) flowing.endLine()
    else this.flowing = flowing
  }

  #asParagraph({ text, containers }: TableHead): Paragraph {
    const paragraph = new Paragraph(this.#context, this.#layout, containers)
    paragraph.push(text)
    return paragraph
  }

  #indented(text: string, matched: number, opened: readonly Container[]): void {
    if (!(this.#leaf instanceof CodeBlock && opened.length === 0 && matched === this.#open.length)) {
      this.#settle(matched, opened)
      this.#leaf = new CodeBlock(this.#context, this.#layout, [...this.#open])
    }
    ;(this.#leaf as CodeBlock).line(text)
  }

  #blankLine(line: string, matched: number, opened: readonly Container[]): void {
    if (this.#leaf instanceof CodeBlock && matched === this.#open.length && opened.length === 0) {
      this.#leaf.line(line.slice(CODE_INDENT))
    } else this.#settle(matched, opened)
    if (opened.length === 0) this.#layout.blank = true
  }

  /** What the line does not go on with is over; what it opens is open. */
  #settle(matched: number, opened: readonly Container[]): void {
    this.#closeLeaf()
    this.#closeContainers(matched)
    for (const container of opened) {
      if (container.type === 'item' && container.list.next !== undefined) container.list.next++
      this.#open.push(container)
    }
    for (const [index, container] of this.#open.entries()) if (container.type === 'item' && index < this.#open.length - 1) container.empty = false
  }

  #closeLeaf(): void {
    this.#leaf?.end()
    this.#leaf = undefined
  }

  /** An item that nothing came in is shown as its marker. */
  #closeContainers(matched: number): void {
    if (this.#open.slice(matched).some((container) => container.type === 'item' && container.marker !== undefined)) {
      const rows = this.#layout.rows({ containers: this.#open })
      rows.newline()
    }
    this.#open.length = Math.min(this.#open.length, matched)
  }
}
