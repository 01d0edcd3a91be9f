import type { Answer, ModelEvent, ModelRequest, Provider } from '../provider.js'

/** A model whose first `turns` turns `first` plays, and whose others `then` does. */
export class Until implements Provider {
  readonly #turns: number
  readonly #first: Provider
  readonly #then: Provider
  #playing: Provider

  constructor(turns: number, first: Provider, then: Provider) {
    this.#turns = turns
    this.#first = first
    this.#then = then
    this.#playing = first
  }

  /** Of who plays. */
  get model(): string {
    return this.#playing.model
  }

  get plays(): boolean {
    return this.#playing.plays ?? false
  }

  respond(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.#playing = this.#of(request.turn)
    return this.#playing.respond(request, signal)
  }

  divergences(turn: number, request: number, answers: readonly Answer[]): readonly string[] {
    return this.#of(turn).divergences?.(turn, request, answers) ?? []
  }

  #of(turn: number): Provider {
    return turn < this.#turns ? this.#first : this.#then
  }
}
