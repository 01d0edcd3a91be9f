import { Pen } from './pen.js'
import { type RowOptions, Rows } from './rows.js'
import type { Theme } from './theme.js'

/** What stands on the screen as one piece. While it is open more of it may come. */
export interface Block {
  readonly kind: 'prose' | 'call' | 'result' | 'notice' | 'shown'
  /** Whether it is one line: blocks of that sort stand together without an empty line between them. */
  readonly compact: boolean
  /** It is finished: whatever it holds back is shown, and its last line ends. */
  end(): void
}

export interface Look {
  readonly theme: Theme
  readonly styled: boolean
  readonly links: boolean
}

/** Blocks one under the other. Only the last one is open. */
export class Screen {
  readonly theme: Theme
  /** Whether there are colours and the like. */
  readonly styled: boolean
  /** Whether the terminal takes the addresses of links (OSC 8). */
  readonly links: boolean
  readonly #pen = new Pen()
  #width: number
  #last: Block | undefined
  #open = false

  /** `width` in cells. */
  constructor(width: number, { theme, styled, links }: Look) {
    this.#width = width
    this.theme = theme
    this.styled = styled
    this.links = links && styled
  }

  /** The block that is open, if one is. */
  get current(): Block | undefined {
    return this.#open ? this.#last : undefined
  }

  get width(): number {
    return this.#width
  }

  /** The terminal has another width: what begins from now on has it. */
  resize(width: number): void {
    this.#width = width
  }

  rows(options: RowOptions): Rows {
    return new Rows(this.#pen, this.#width, options)
  }

  /** Begins a block under the last one, which is finished. */
  begin(block: Block): void {
    this.close()
    if (this.#last && hasGap(this.#last, block)) this.#pen.newline()
    this.#last = block
    this.#open = true
  }

  /** Finishes the block that is open. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#last?.end()
  }

  /** What was written since the last time, as UTF-8. */
  take(): Buffer {
    return this.#pen.take()
  }
}

/** An empty line stands between blocks, but not between the lines of calls and results, or of notices. */
function hasGap(above: Block, below: Block): boolean {
  if (above.kind === 'notice') return !(below.kind === 'notice' && above.compact && below.compact)
  if (above.kind === 'prose') return true
  if (below.kind === 'result') return false
  return !(below.kind === 'call' && above.compact)
}
