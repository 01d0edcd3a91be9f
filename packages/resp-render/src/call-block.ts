import type { CallLabel } from './call-label.js'
import type { Piece } from './notice.js'
import { type Margin, margin, type Rows } from './rows.js'
import type { Block, Screen } from './screen.js'
import type { Role } from './theme.js'
import { Words } from './words.js'

const BODY_MARGIN = '  │ '
const CLOSING_MARGIN = '  └ '

/** How the line of a call begins: a call, more of one that was shown before, and one that has ended well or not. */
const MARKERS = { call: ['●', 'marker'], more: ['○', 'marker'], ok: ['✓', 'ok'], failed: ['✗', 'failed'] } as const

/**
 * A call on the screen: one line, which stays open so that what becomes of the call can be put at its end, then what it prints.
 */
export class CallBlock implements Block {
  readonly kind: 'call' | 'result'
  readonly id: string
  readonly #screen: Screen
  #line: { readonly words: Words; readonly rows: Rows } | undefined
  #body: Rows | undefined
  #bodied = false

  constructor(screen: Screen, id: string, { name, what }: CallLabel, marker: keyof typeof MARKERS) {
    this.#screen = screen
    this.id = id
    this.kind = marker === 'call' ? 'call' : 'result'
    const [sign, role] = MARKERS[marker]
    const rows = screen.rows({ margin: margin(`${sign} `, screen.theme[role]) })
    this.#line = { words: new Words(rows), rows }
    screen.begin(this)
    this.#write([
      [name, 'tool'],
      [what === '' ? '' : `  ${what}`, 'text'],
    ])
  }

  get compact(): boolean {
    return !this.#bodied
  }

  /** Whether something can still be put at the end of its line. */
  get isOpen(): boolean {
    return this.#line !== undefined
  }

  /** Puts something at the end of the line. */
  append(pieces: readonly Piece[]): void {
    this.#write([['  ', 'text'], ...pieces])
  }

  /** Rows for what the call prints, below its line. */
  body(): Rows {
    this.#endLine()
    this.#bodied = true
    const { theme } = this.#screen
    this.#body ??= this.#screen.rows({ margin: margin(BODY_MARGIN, theme.margin, BODY_MARGIN) })
    return this.#body
  }

  /** Rows for one line with a margin of its own; where there is no room for it, only the last character of the margin stays. */
  row(sign: string, role: Role): Rows {
    const first = sign.length * 2 > this.#screen.width ? sign.slice(-1) : sign
    return this.rows(margin(first, this.#screen.theme[role]))
  }

  /** Rows with a margin of their own, below its line. */
  rows(margin: Margin): Rows {
    this.#endLine()
    this.#body?.end()
    this.#body = undefined
    this.#bodied = true
    return this.#screen.rows({ margin })
  }

  /** Says how the call ended, below what it printed. */
  closing(parts: readonly (readonly Piece[])[]): void {
    const rows = this.row(CLOSING_MARGIN, 'margin')
    const words = new Words(rows)
    parts.forEach((pieces, index) => {
      for (const [text, role] of index === 0 ? pieces : [['  ', 'text'] as const, ...pieces]) words.write(text, this.#screen.theme[role])
    })
    words.endWord()
    rows.end()
  }

  end(): void {
    this.#endLine()
    this.#body?.end()
  }

  #write(pieces: readonly Piece[]): void {
    for (const [text, role] of pieces) this.#line?.words.write(text, this.#screen.theme[role])
    this.#line?.words.endWord()
  }

  #endLine(): void {
    this.#line?.rows.end()
    this.#line = undefined
  }
}
