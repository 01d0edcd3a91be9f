import type { MessageOf } from '@agentpipe/message'

export type UserInput = MessageOf<'USER_INPUT'>

/** What is done between turns. */
export type Waiting = UserInput | MessageOf<'CONTROL'>

/** What waits for the turn that runs to end, in the order in which it came. */
export class Inputs {
  readonly #queue: Waiting[] = []
  #ended = false
  #wake: (() => void) | undefined

  add(waiting: Waiting): void {
    this.#queue.push(waiting)
    this.#wake?.()
  }

  /** Whether nothing waits, and nothing will. */
  get over(): boolean {
    return this.#ended && this.#queue.length === 0
  }

  /** There will be no more. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** What waits is given up, too. */
  drop(): void {
    this.#queue.length = 0
    this.end()
  }

  /** The next one, waited for; undefined when there will be none. */
  async next(): Promise<Waiting | undefined> {
    while (this.#queue.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#queue.shift()
  }
}
