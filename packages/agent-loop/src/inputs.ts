import type { MessageOf } from '@agentpipe/message'

export type UserInput = MessageOf<'USER_INPUT'>

/** The inputs that wait for their turn. */
export class Inputs {
  readonly #queue: UserInput[] = []
  #ended = false
  #wake: (() => void) | undefined

  add(input: UserInput): void {
    this.#queue.push(input)
    this.#wake?.()
  }

  /** There will be no more. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** The next input, waited for; undefined when there will be none. */
  async next(): Promise<UserInput | undefined> {
    while (this.#queue.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#queue.shift()
  }
}
