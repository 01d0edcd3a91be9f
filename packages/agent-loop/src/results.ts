import type { MessageOf } from '@agentpipe/message'

/** Waits for the results of the calls that go round. */
export class Results {
  readonly #waiting = new Set<string>()
  #done: (() => void) | undefined

  /** Calls that nobody has answered yet. */
  get missing(): readonly string[] {
    return [...this.#waiting]
  }

  expect(id: string): void {
    this.#waiting.add(id)
  }

  /** Takes a result; true if it was waited for. */
  take({ id }: Pick<MessageOf<'TOOL_RESULT'>, 'id'>): boolean {
    const expected = this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#done?.()
    return expected
  }

  /** Resolves when every call is answered. */
  all(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve
      if (this.#waiting.size === 0) resolve()
    })
  }
}
