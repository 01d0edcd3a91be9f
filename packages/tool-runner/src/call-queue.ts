/** Calls that only read run side by side, so many at most. */
const SIDE_BY_SIDE = 32

/** A call that waits or runs. */
export interface QueuedCall {
  readonly readOnly: boolean
}

/**
 * The order in which calls run: as they came, those that write one at a time, those that only read side by side. A read waits for the
 * writes before it, and a write for everything before it, so that each call finds what the model expects.
 */
export class CallQueue<Queued extends QueuedCall> {
  readonly #run: (call: Queued) => Promise<void>
  readonly #blocked: () => Promise<void> | undefined
  readonly #waiting = new Set<Queued>()
  readonly #running = new Set<Queued>()
  #unblocking = false
  #whenIdle: (() => void)[] = []

  /** `run` must not reject. `blocked` gives a promise while no further call should start: who reads the results is slow. */
  constructor(run: (call: Queued) => Promise<void>, blocked: () => Promise<void> | undefined) {
    this.#run = run
    this.#blocked = blocked
  }

  get running(): Iterable<Queued> {
    return this.#running
  }

  add(call: Queued): void {
    this.#waiting.add(call)
    this.#start()
  }

  /** Takes out, and gives back, the waiting calls that `which` names. */
  withdraw(which: (call: Queued) => boolean): Queued[] {
    const withdrawn = [...this.#waiting].filter(which)
    for (const call of withdrawn) this.#waiting.delete(call)
    this.#settle()
    return withdrawn
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    if (this.#waiting.size + this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #start(): void {
    for (const call of this.#waiting) {
      if (!this.#mayStart(call)) break
      this.#waiting.delete(call)
      this.#running.add(call)
      void this.#run(call).then(() => this.#ended(call))
    }
  }

  #mayStart({ readOnly }: Queued): boolean {
    if (readOnly ? this.#running.size >= SIDE_BY_SIDE || this.#writes() : this.#running.size > 0) return false
    const blocked = this.#blocked()
    if (blocked === undefined) return true
    if (!this.#unblocking) {
      this.#unblocking = true
      void blocked.then(() => {
        this.#unblocking = false
        this.#start()
      })
    }
    return false
  }

  #writes(): boolean {
    for (const { readOnly } of this.#running) if (!readOnly) return true
    return false
  }

  #ended(call: Queued): void {
    this.#running.delete(call)
    this.#settle()
  }

  #settle(): void {
    this.#start()
    if (this.#waiting.size + this.#running.size > 0) return
    const resolvers = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of resolvers) resolve()
  }
}
