import type { MessageOf } from '@agentpipe/message'
import { configPath, EXIT, type Price, priceOf, StageError, usage } from '@agentpipe/stage'

const MILLION = 1e6

/** What this process may spend, and has spent: every USAGE counts, those of compactions and sub-agents too. */
export class CostLimit {
  readonly #most: number
  readonly #model: string
  readonly #prices = new Map<string, Price>()
  #spent = 0

  /** `most` in USD, as --max-cost has it. Throws StageError: 64 where that is no amount, 78 where nobody says what `model` costs. */
  constructor(most: string, model: string) {
    this.#most = /^\$?\d*\.?\d+$/.test(most) ? Number(most.replace('$', '')) : Number.NaN
    if (Number.isNaN(this.#most)) throw usage(`--max-cost: expected an amount in USD, found ${JSON.stringify(most)}`)
    this.#model = model
    if (this.#priceOf(model) === undefined) {
      const entry = `{"agent-loop": {"prices": {${JSON.stringify(model)}: {"input": 2, "output": 10}}}}`
      throw new StageError(
        EXIT.CONFIG,
        `--max-cost: the price of the model ${JSON.stringify(model)} is not known: give it in ${configPath()}, in USD for a million tokens: ${entry}`,
      )
    }
  }

  /** A model of which nobody says what it costs, a sub-agent's, costs what ours does. */
  take({ input, output, cache_read: cacheRead, cache_creation: cacheCreation, attributes: { model } }: MessageOf<'USAGE'>): void {
    const price = this.#priceOf(model ?? this.#model) ?? (this.#priceOf(this.#model) as Price)
    const cost = tokens(input) * price.input + tokens(output) * price.output + tokens(cacheRead) * price.cacheRead + tokens(cacheCreation) * price.cacheCreation
    this.#spent += cost / MILLION
  }

  /** What is to be said once the limit is reached; undefined before. */
  get reached(): string | undefined {
    if (this.#spent < this.#most) return undefined
    return `this process has spent ${this.#spent.toFixed(4)} USD, and ${this.#most} is the limit: see --max-cost`
  }

  #priceOf(model: string): Price | undefined {
    const known = this.#prices.get(model) ?? priceOf(model)
    if (known !== undefined) this.#prices.set(model, known)
    return known
  }
}

function tokens(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : 0
}
