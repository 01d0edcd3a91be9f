import { TurnError } from './turn-end.js'

/** A call of the model and what came of it. */
export interface Outcome {
  readonly name: string
  /** As the model gave it. */
  readonly input: string
  readonly output: string
  readonly failed: boolean
}

/** So often may a call fail in the same way until the model is told, and until the turn is ended. */
const TOLD_AT = 3
const ENDED_AT = 6

interface Tries {
  readonly name: string
  readonly output: string
  failures: number
}

/**
 * Bounds calls that fail in the same way again and again: the same tool, input and output, while nothing else makes progress either. Progress
 * is a call that was not made before, or that gave something new: after it the counts begin anew. Calls of one response count as one.
 */
export class Repeats {
  readonly #tries = new Map<string, Tries>()

  /**
   * Takes the outcomes of a response. Gives what the model is to be told, if anything. Throws TurnError when a call has failed too often.
   */
  take(outcomes: readonly Outcome[]): string | undefined {
    const responses = new Map(outcomes.map((outcome) => [`${outcome.name}\0${outcome.input}`, outcome]))
    let progress = false
    for (const [key, { name, output, failed }] of responses) {
      const before = this.#tries.get(key)
      if (before?.output !== output) progress = true
      const tries = before?.output === output ? before : { name, output, failures: 0 }
      if (failed) tries.failures++
      this.#tries.set(key, tries)
    }
    if (progress) for (const tries of this.#tries.values()) tries.failures = Math.min(tries.failures, 1)
    return this.#verdict([...responses.keys()])
  }

  #verdict(keys: readonly string[]): string | undefined {
    const tries = keys.map((key) => this.#tries.get(key) as Tries)
    const most = Math.max(0, ...tries.map(({ failures }) => failures))
    const names = [...new Set(tries.filter(({ failures }) => failures === most).map(({ name }) => JSON.stringify(name.slice(0, 100))))].join(', ')
    if (most >= ENDED_AT)
      throw new TurnError('repeated_calls', `the turn was ended: ${names} was called ${most} times with the same input and failed in the same way`)
    if (most !== TOLD_AT) return undefined
    return `${names} was called ${most} times with the same input and failed in the same way each time: the same call again gives the same. Do it in another way, or say what is missing`
  }
}
