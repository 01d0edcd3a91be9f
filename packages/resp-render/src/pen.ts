/**
 * The only place that writes escape sequences: SGR, of our own making. What is written is kept until it is taken.
 * A style is the parameters of an SGR sequence, '' for none.
 */
export class Pen {
  #text = ''
  #style = ''

  write(text: string, style: string): void {
    if (style !== this.#style) this.#change(style)
    this.#text += text
  }

  /** Ends the line, with no style left on. */
  newline(): void {
    if (this.#style !== '') this.#change('')
    this.#text += '\n'
  }

  /** What was written since the last time. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  #change(style: string): void {
    if (this.#style !== '') this.#text += '\x1b[0m'
    if (style !== '') this.#text += `\x1b[${style}m`
    this.#style = style
  }
}
