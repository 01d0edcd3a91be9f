import { Utf8 } from './utf8.js'

/** What rows are written to. A style is the parameters of an SGR sequence, '' for none; behind a LF may stand the address of a link. */
export interface Ink {
  write(text: string, style: string): void
  /** Ends the line, with no style left on. */
  newline(): void
}

/** A style, and the address that a terminal is to open; `id` is the same for all parts of a link, on however many rows they are. Only for printable ASCII. */
export function linked(style: string, address: string, id: number): string {
  return `${style}\nid=${id};${address}`
}

/** One style over another; a link stays. */
export function over(base: string, more: string): string {
  const at = base.indexOf('\n')
  const style = at < 0 ? base : base.slice(0, at)
  return (style === '' || more === '' ? style + more : `${style};${more}`) + (at < 0 ? '' : base.slice(at))
}

/**
 * The only place that writes escape sequences, all of our own making: SGR, and OSC 8 for links. What is written is kept until it is taken.
 */
export class Pen implements Ink {
  readonly #out = new Utf8()
  #style = ''

  write(text: string, style: string): void {
    if (style !== this.#style) this.#change(style)
    this.#out.append(text)
  }

  newline(): void {
    if (this.#style !== '') this.#change('')
    this.#out.append('\n')
  }

  /** What was written since the last time, as UTF-8. */
  take(): Buffer {
    return this.#out.take()
  }

  #change(style: string): void {
    if (style.includes('\n') || this.#style.includes('\n')) this.#changeLink(style)
    else {
      if (this.#style !== '') this.#out.append('\x1b[0m')
      if (style !== '') this.#out.append(sequenceOf(style))
    }
    this.#style = style
  }

  #changeLink(style: string): void {
    const [before = '', linkBefore = ''] = this.#style.split('\n')
    const [after = '', link = ''] = style.split('\n')
    if (before !== '' && before !== after) this.#out.append('\x1b[0m')
    if (link !== linkBefore) this.#out.append(link === '' ? '\x1b]8;;\x1b\\' : `\x1b]8;${link}\x1b\\`)
    if (after !== '' && before !== after) this.#out.append(sequenceOf(after))
  }
}

/** Styles are few, but for those of tools. */
const sequences = new Map<string, string>()
const MOST_SEQUENCES = 1000

function sequenceOf(style: string): string {
  let sequence = sequences.get(style)
  if (sequence === undefined) {
    sequence = `\x1b[${style}m`
    if (sequences.size < MOST_SEQUENCES) sequences.set(style, sequence)
  }
  return sequence
}
