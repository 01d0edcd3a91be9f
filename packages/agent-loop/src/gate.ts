/** Something that happens once, and that several may wait for. */
export class Gate<Value> {
  readonly opened: Promise<Value>
  #value: Value | undefined
  #resolve: (value: Value) => void = () => {}

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** What it was opened with; undefined before. */
  get value(): Value | undefined {
    return this.#value
  }

  /** Only the first time counts. */
  open(value: Value): void {
    if (this.#value !== undefined) return
    this.#value = value
    this.#resolve(value)
  }
}

/** Resolves with what `work` does, or with undefined once `signal` is aborted. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
