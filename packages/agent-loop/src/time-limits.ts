import { ProviderError } from './provider.js'

export interface Limits {
  /** Milliseconds; undefined for no limit. */
  readonly idleMs: number | undefined
  readonly totalMs: number | undefined
}

/** The time that one exchange with a server may take: as a whole, and each wait for the next bytes. */
export class TimeLimits {
  /** Why the exchange was ended; undefined where it was not by us, or by who asked. */
  reason: unknown
  readonly #limits: Limits
  readonly #host: string
  readonly #controller = new AbortController()
  readonly #asked: AbortSignal | undefined
  readonly #total: NodeJS.Timeout | undefined

  constructor(limits: Limits, host: string, asked: AbortSignal | undefined) {
    this.#limits = limits
    this.#host = host
    this.#asked = asked
    if (asked?.aborted) this.#askedToEnd()
    asked?.addEventListener('abort', this.#askedToEnd, { once: true })
    const { totalMs } = limits
    if (totalMs !== undefined)
      this.#total = timer(() => this.#over(`the answer of the model server at ${host} took ${totalMs / 1000} s; see --request-timeout`), totalMs)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Waits for what comes from the server. */
  async watch<Value>(wait: Promise<Value>): Promise<Value> {
    const { idleMs } = this.#limits
    if (idleMs === undefined) return wait
    const idle = timer(() => this.#over(`the model server at ${this.#host} has been silent for ${idleMs / 1000} s; see --idle-timeout`), idleMs)
    try {
      return await wait
    } finally {
      clearTimeout(idle)
    }
  }

  end(): void {
    clearTimeout(this.#total)
    this.#asked?.removeEventListener('abort', this.#askedToEnd)
  }

  readonly #askedToEnd = (): void => {
    this.reason ??= this.#asked?.reason
    this.#controller.abort(this.#asked?.reason)
  }

  #over(message: string): void {
    this.reason ??= new ProviderError('unreachable', message)
    this.#controller.abort(this.reason)
  }
}

function timer(work: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(work, Math.min(ms, 2 ** 31 - 1))
}
