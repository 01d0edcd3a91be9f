import { unlessAborted } from '../gate.js'
import { EventStreamParser, type ServerEvent } from './event-stream.js'

/** How long an answer that has said everything may take to end, so that its connection can be used again. */
const CLOSING_MS = 200

/** The events of an answer, as they come. */
export class ServerEvents {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #signal: AbortSignal
  readonly #parser = new EventStreamParser()
  #ended = false

  constructor(body: ReadableStream<Uint8Array>, signal: AbortSignal) {
    this.#reader = body.getReader()
    this.#signal = signal
  }

  /**
   * The events that came next; undefined at the end of the answer, and when `patience` milliseconds are over. Throws when `signal` is aborted or
   * the connection breaks.
   */
  async read(patience?: number): Promise<ServerEvent[] | undefined> {
    if (this.#ended) return undefined
    const result = await unlessAborted(inTime(this.#reader.read(), patience), this.#signal)
    this.#signal.throwIfAborted()
    if (result === undefined) return undefined
    if (!result.done) return this.#parser.push(result.value)
    this.#ended = true
    return this.#parser.end()
  }

  /** Nothing more is read. An answer that is `whole` gets a moment to end by itself. */
  close(whole: boolean): void {
    if (this.#ended) return
    const cancel = () => this.#reader.cancel().catch(() => {})
    if (!whole) {
      cancel()
      return
    }
    const limit = setTimeout(cancel, CLOSING_MS)
    this.#drain()
      .catch(() => {})
      .finally(() => clearTimeout(limit))
  }

  async #drain(): Promise<void> {
    while (!(await this.#reader.read()).done);
  }
}

/** What `work` gives, or undefined when `patience` milliseconds are over before. */
async function inTime<Value>(work: Promise<Value>, patience: number | undefined): Promise<Value | undefined> {
  if (patience === undefined) return work
  let limit: NodeJS.Timeout | undefined
  const over = new Promise<undefined>((resolve) => {
    limit = setTimeout(resolve, Math.max(0, patience), undefined)
  })
  return Promise.race([work, over]).finally(() => clearTimeout(limit))
}
