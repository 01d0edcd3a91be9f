import type { Frame } from '@agentpipe/frame'
import { attributesOf, wholeNumber } from './attributes.js'
import { type CellSink, Clusters, cellsOf } from './cells.js'
import { INVISIBLE, oneLine, TAG, visible } from './invisible.js'
import type { Theme } from './theme.js'

/** Rows of a prompt that are shown, those around the cursor. */
const MOST_ROWS = 8
/** Rows of what is said below it. */
const MOST_NOTES = 8
const SIGN = '› '
const REST = '  '

/** Between these a terminal that knows them draws nothing half. */
const BEGIN = '\x1b[?2026h'
const END = '\x1b[?2026l'
/** The terminal marks what is pasted. Said each time: who had the terminal while we were stopped may have taken it back. */
const PASTES = '\x1b[?2004h'
const NO_PASTES = '\x1b[?2004l'

const ODD = new RegExp(`${TAG}|[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f${INVISIBLE}]`, 'g')
// biome-ignore lint/suspicious/noControlCharactersInRegex: what is looked for
const LOOKS = /\x1b\[[\d;]*m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: what is looked for
const LINKS = /\x1b\]8;[^\x1b]*\x1b\\/g

/**
 * Keeps the prompt below what is shown. It is the only thing on the terminal that is drawn more than once: taken away, then drawn anew below
 * what came. What came may end in the middle of a line, and in a look: there it goes on.
 */
export class PromptLine {
  readonly #theme: Theme
  #text = ''
  #cursor = 0
  #hint = ''
  #note = ''
  #there = false
  /** What of the prompt is drawn in front of the cursor: cells of each row, the last one up to the cursor. Undefined: none is drawn. */
  #before: readonly number[] | undefined
  /** Cells of the line that is open above it, and the look and the link that are on at its end. */
  #open = 0
  #look = ''
  #link = ''

  constructor(theme: Theme) {
    this.#theme = theme
  }

  /** PROMPT: what stands there from now on. */
  frame(frame: Frame): void {
    this.#text = typed(frame.text(1) as string)
    // The cursor counts characters of the text as it came.
    const before = [...(frame.text(1) as string)].slice(0, wholeNumber(frame.field(2)) ?? Number.MAX_SAFE_INTEGER).join('')
    this.#cursor = typed(before).length
    const attributes = attributesOf(frame)
    this.#hint = oneLine(attributes.get('hint'))
    this.#note = typed(attributes.get('note')?.toString() ?? '')
    this.#there = true
  }

  /** Text that was rendered, as it is to be written to a terminal of `width` cells, the prompt below it. */
  below(output: string, width: number): string {
    const text = output.replaceAll('\n', '\r\n')
    const shown = this.#goBack(width) + text
    this.#follow(output)
    return this.#there ? BEGIN + PASTES + shown + this.#draw(width) + END : shown
  }

  /** There is no more: the prompt is taken away. */
  end(width: number): string {
    const text = this.#goBack(width) + (this.#there ? NO_PASTES : '')
    this.#there = false
    return text
  }

  /** Takes the prompt away, and goes to the end of what stands above it. A terminal that has become narrower has wrapped what was drawn. */
  #goBack(width: number): string {
    if (this.#before === undefined) return ''
    const up = this.#before.reduce((rows, cells) => rows + rowsOf(cells, width), -1)
    this.#before = undefined
    const erased = `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`
    const column = Math.min(width - 1, this.#open - (rowsOf(this.#open, width) - 1) * width)
    return (this.#open > 0 ? `${erased}\x1b[A${column > 0 ? `\x1b[${column}C` : ''}` : erased) + this.#link + this.#look
  }

  /** Where the output ends now. */
  #follow(output: string): void {
    const line = output.slice(output.lastIndexOf('\n') + 1)
    if (line.length < output.length) this.#open = 0
    this.#open += cellsOf(line.replace(LOOKS, '').replace(LINKS, ''))
    const look = output.match(LOOKS)?.at(-1)
    if (look !== undefined) this.#look = look === '\x1b[0m' ? '' : look
    const link = output.match(LINKS)?.at(-1)
    if (link !== undefined) this.#link = link === '\x1b]8;;\x1b\\' ? '' : link
  }

  #draw(width: number): string {
    const { rows, row, column } = layOut(this.#text, this.#cursor, Math.max(1, width - SIGN.length - 1))
    const from = Math.max(0, Math.min(row - (MOST_ROWS >> 1), rows.length - MOST_ROWS))
    const visible = rows.slice(from, from + MOST_ROWS)
    const hint = this.#text === '' && this.#hint !== '' ? `${look(this.#theme.note)}${clipped(this.#hint, width - SIGN.length - 1)}\x1b[0m` : ''
    const notes = this.#note === '' ? [] : this.#note.split('\n').flatMap((line) => wrapped(line, width - REST.length - 1))
    if (notes.length > MOST_NOTES) notes.splice(MOST_NOTES - 1, notes.length, '…')
    const lines = visible.map((line, index) => (index + from === 0 ? `${look(this.#theme.user)}${SIGN}\x1b[0m` : REST) + line)
    const above = visible.slice(0, row - from).map((line) => SIGN.length + cellsOf(line))
    this.#before = [...above, SIGN.length + column]
    const up = visible.length + notes.length - this.#before.length
    const leave = (this.#look === '' ? '' : '\x1b[0m') + (this.#link === '' ? '' : '\x1b]8;;\x1b\\') + (this.#open > 0 ? '\r\n' : '')
    const below = notes.map((line) => `\r\n${look(this.#theme.note)}${REST}${line}\x1b[0m`).join('')
    return `${leave}${lines.join('\r\n')}${hint}${below}\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[${SIGN.length + column}C`
  }
}

/** Rows that a line of so many cells takes; a cursor behind the last cell of a row is still on it. */
function rowsOf(cells: number, width: number): number {
  return Math.max(1, Math.ceil(cells / width))
}

/** What was typed or pasted, with what would act on the terminal as escapes. */
function typed(text: string): string {
  return text.replaceAll('\t', '    ').replace(ODD, visible)
}

/** The rows of a text, and where its `cursor`th code unit stands. */
function layOut(text: string, cursor: number, width: number): { readonly rows: readonly string[]; readonly row: number; readonly column: number } {
  const rows = ['']
  let [cells, at, row, column] = [0, 0, 0, 0]
  const put = (cluster: string, size: number) => {
    if (cells + size > width) {
      rows.push('')
      cells = 0
    }
    if (at <= cursor) [row, column] = [rows.length - 1, cells]
    rows[rows.length - 1] += cluster
    cells += size
    at += cluster.length
    if (at <= cursor) [row, column] = [rows.length - 1, cells]
  }
  const sink: CellSink = {
    plain: (run) => {
      for (const character of run) put(character, 1)
    },
    cluster: put,
  }
  text.split('\n').forEach((line, index) => {
    if (index > 0) {
      rows.push('')
      cells = 0
      at++
      if (at <= cursor) [row, column] = [rows.length - 1, 0]
    }
    const clusters = new Clusters()
    clusters.push(line, sink)
    clusters.flush(sink)
  })
  return { rows, row, column }
}

function look(style: string): string {
  return style === '' ? '' : `\x1b[${style}m`
}

/** The beginning of a text that takes no more cells. */
function clipped(text: string, cells: number): string {
  const { rows } = layOut(text, 0, Math.max(1, cells))
  return rows[0] as string
}

/** The lines of a note: between words where that is possible. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = text
  for (;;) {
    const line = clipped(rest, width)
    if (line.length === rest.length || lines.length > MOST_NOTES) return [...lines, line]
    const blank = rest.charAt(line.length) === ' ' ? line.length : line.lastIndexOf(' ')
    const end = blank > 0 ? blank : Math.max(1, line.length)
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
}
