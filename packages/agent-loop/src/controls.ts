import { type MessageOf, messageFields } from '@agentpipe/message'
import { StageError } from '@agentpipe/stage'
import { compact } from './compaction.js'
import type { HeadSettings } from './head.js'
import { ProviderError } from './provider.js'
import type { Surroundings } from './turn.js'
import { windowFor } from './window-for.js'

/** What a user asks of agent-loop itself, between turns. What can't be done is told by an ERROR, and changes nothing. */
export class Controls {
  readonly #around: Surroundings
  readonly #given: HeadSettings

  /** `around` is what the turns to come work with: CONTROL model changes it. */
  constructor(around: Surroundings, given: HeadSettings) {
    this.#around = around
    this.#given = given
  }

  /** Does what `control` asks for. Rejects only for a bug. */
  async take(control: MessageOf<'CONTROL'>, signal: AbortSignal): Promise<void> {
    try {
      await this.#do(control, signal)
    } catch (error) {
      if (signal.aborted) this.#refuse(`CONTROL ${control.name} was interrupted`)
      else if (error instanceof ProviderError || error instanceof StageError) this.#refuse(`CONTROL ${control.name}: ${error.message}`)
      else throw error
    }
  }

  async #do({ name, args }: MessageOf<'CONTROL'>, signal: AbortSignal): Promise<void> {
    if (name === 'clear') this.#around.journal.send(messageFields('CONTEXT_UPDATE', ['clear', 'manual']))
    else if (name === 'compact') await this.#compact(args, signal)
    else if (name === 'model') await this.#model(args.trim())
    // A command that could not be read; who reads commands has no other way to be heard.
    else if (name === 'refused') this.#refuse(args)
    else this.#refuse(`there is no CONTROL ${JSON.stringify(name.slice(0, 100))}: compact, model, clear`)
  }

  async #compact(wishes: string, signal: AbortSignal): Promise<void> {
    if (this.#around.provider.plays) return this.#refuse('CONTROL compact: a capture that is replayed makes no summary')
    const done = await compact({ trigger: 'manual', wishes }, this.#around, signal)
    if (!done && !signal.aborted) this.#refuse('CONTROL compact: nothing was said yet that could be summarised')
  }

  async #model(model: string): Promise<void> {
    if (model === '') return this.#refuse('CONTROL model: it needs the name of a model')
    const { settings, system, choose } = this.#given
    this.#around.provider = await choose(model)
    this.#around.window = windowFor(model, settings, system, this.#around.tools)
  }

  #refuse(why: string): void {
    this.#around.journal.send(messageFields('ERROR', [why], { code: 'control', source: 'agent-loop' }))
  }
}
