import type { Margin, Rows, Span } from '../rows.js'
import type { Screen } from '../screen.js'
import type { Container } from './containers.js'

const BAR = '▌ '

/** Where a block stands, and how. */
export interface Placement {
  readonly containers: readonly Container[]
  /** Whether an empty line stands around it wherever it is. */
  readonly apart?: boolean
  /** Further to the right by so many cells. */
  readonly indent?: number
  readonly unlimited?: boolean
  /** Right below the last block, whatever that is. */
  readonly under?: boolean
}

/**
 * Puts the blocks of a message one under the other: what they are in as their margin, empty lines between them where there were some, or where
 * one of the two stands apart. What is too narrow for a margin has none, but signs of lists that have something to say stay.
 */
export class Layout {
  readonly #screen: Screen
  readonly #begin: () => void
  #begun = false
  /** An empty line came behind the last block. */
  blank = false
  #last: readonly Container[] = []
  /** Whether an empty line comes behind the last block, whatever follows. */
  #apart = false

  /** `begin` is called before the first thing is shown. */
  constructor(screen: Screen, begin: () => void) {
    this.#screen = screen
    this.#begin = begin
  }

  /** Rows for a block. What separates it from the last one is shown with its first row. */
  rows(placement: Placement): Rows {
    const { margin, lost } = this.#margin(placement)
    const rows = this.#screen.rows({ margin, begin: () => this.#above(placement), unlimited: placement.unlimited ?? false })
    if (lost !== '') rows.putText(lost, this.#screen.theme.bullet)
    return rows
  }

  /** Cells that a block has for itself. */
  width({ containers }: Placement): number {
    return this.#screen.width - this.#margin({ containers: containers.map(withoutMarker) }).margin.cells
  }

  /** The margin of a block; markers that it shows are shown. Those that there is no room for are lost. */
  #margin({ containers, indent = 0 }: Placement): { readonly margin: Margin; readonly lost: string } {
    const { theme } = this.#screen
    const [first, rest]: [Span[], Span[]] = [[], []]
    let [cells, lost] = [0, '']
    for (const container of containers) {
      const marker = container.type === 'quote' ? BAR : (container.marker ?? '')
      const size = container.type === 'quote' ? BAR.length : container.cells
      const style = container.type === 'quote' ? theme.margin : theme.bullet
      if (container.type === 'item') container.marker = undefined
      if (!this.#fits(cells + size)) {
        if (container.type === 'item' && marker !== '') lost += `${marker} `
        continue
      }
      first.push([marker.padEnd(size), marker === '' ? '' : style])
      rest.push(container.type === 'quote' ? [BAR, style] : [' '.repeat(size), ''])
      cells += size
    }
    if (indent > 0 && this.#fits(cells + indent)) {
      for (const spans of [first, rest]) spans.push([' '.repeat(indent), ''])
      cells += indent
    }
    return { margin: { first, rest, cells }, lost }
  }

  /** By the rule of Rows. */
  #fits(cells: number): boolean {
    return cells * 2 <= this.#screen.width && this.#screen.width - cells >= 2
  }

  #above(placement: Placement): void {
    if (!this.#begun) this.#begin()
    else if (this.#hasGap(placement)) this.#gap(placement)
    this.#begun = true
    this.blank = false
    this.#last = placement.containers
    this.#apart = placement.apart === true
  }

  /** Behind what was shown last an empty line comes, whatever follows. */
  apart(): void {
    this.#apart = this.#begun
  }

  #hasGap(placement: Placement): boolean {
    return placement.under !== true && (this.blank || placement.apart === true || this.#apart)
  }

  #gap(placement: Placement): void {
    const differs = placement.containers.findIndex((container, index) => container !== this.#last[index])
    const common = differs < 0 ? placement.containers : placement.containers.slice(0, differs)
    const { margin } = this.#margin({ containers: common.map(withoutMarker) })
    this.#screen.rows({ margin: { ...margin, first: margin.rest } }).newline()
  }
}

function withoutMarker(container: Container): Container {
  return container.type === 'quote' ? container : { ...container, marker: undefined }
}
