/** An event of a text/event-stream. `cut`: the stream ended before the event did. */
export interface ServerEvent {
  /** Empty where the server gives none. */
  readonly event: string
  readonly data: string
  readonly cut: boolean
}

/** No error is longer. */
const MOST_BARE_LINES = 1000

/**
 * Bytes of a text/event-stream into its events, however they are split (HTML Living Standard, "Server-sent events"). What the stream ends in
 * is given as well, so that a last event whose blank line is missing counts. Events without data are left out. JSON that stands in the stream without being
 * the data of an event, as Google's servers write errors, is given at the end.
 */
export class EventStreamParser {
  readonly #decoder = new TextDecoder()
  /** Pieces of the line that is being read, put together once. */
  #line: string[] = []
  #data: string[] = []
  #event = ''
  #afterReturn = false
  readonly #bare: string[] = []

  push(bytes: Uint8Array): ServerEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): ServerEvent[] {
    const events = this.#take(this.#decoder.decode())
    if (this.#line.length > 0) this.#endLine()
    events.push(...this.#dispatch(true))
    if (this.#bare.length > 0) events.push({ event: '', data: this.#bare.join('\n'), cut: true })
    return events
  }

  #take(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    let start = this.#afterReturn && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.#afterReturn = false
    const lineEnd = /\r\n?|\n/g
    lineEnd.lastIndex = start
    for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
      if (found.index > start) this.#line.push(text.slice(start, found.index))
      if (this.#line.length === 0) events.push(...this.#dispatch(false))
      else this.#endLine()
      start = lineEnd.lastIndex
      this.#afterReturn = found[0] === '\r' && start === text.length
    }
    if (start < text.length) this.#line.push(text.slice(start))
    return events
  }

  #endLine(): void {
    const line = this.#line.join('')
    this.#line = []
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (this.#bare.length < MOST_BARE_LINES && (this.#bare.length > 0 || /^[[{]/.test(line))) this.#bare.push(line)
  }

  #dispatch(cut: boolean): ServerEvent[] {
    const [event, data] = [this.#event, this.#data]
    this.#event = ''
    this.#data = []
    return data.length === 0 ? [] : [{ event, data: data.join('\n'), cut }]
  }
}
