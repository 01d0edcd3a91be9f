import { setMaxListeners } from 'node:events'
import { messageFields } from '@agentpipe/message'
import { EXIT } from '@agentpipe/stage'
import { Inputs, type UserInput, type Waiting } from './inputs.js'
import type { Journal } from './journal.js'
import { runTurn, type Surroundings } from './turn.js'
import { turnStatus } from './turn-end.js'

export interface TurnsOptions {
  readonly journal: Journal
  /** Only one turn is taken. */
  readonly once: boolean
  /** What a turn that begins now works with. */
  readonly surroundings: () => Surroundings
  /** Does what a CONTROL asks for, between turns. */
  readonly control: (control: Exclude<Waiting, UserInput>, signal: AbortSignal) => Promise<void>
}

/** Turn after turn, in the order of the inputs. */
export class Turns {
  readonly inputs = new Inputs()
  readonly #options: TurnsOptions
  /** How many were begun. */
  begun = 0
  /** The turn that runs, or what a CONTROL asked for. */
  #turn: { readonly abort: AbortController; readonly ended: Promise<unknown> } | undefined
  #interrupted = false

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** Whether nobody will hear of what comes after the turn that runs. */
  get last(): boolean {
    return this.#options.once || this.inputs.over
  }

  /** Until there is nothing more to do; gives the exit status. */
  async run(): Promise<number> {
    const { once, journal } = this.#options
    let status: number = EXIT.OK
    while (!once || this.begun === 0) {
      const waiting = await this.inputs.next()
      if (waiting === undefined) break
      if (waiting.type === 'CONTROL') await this.#control(waiting)
      else status = await this.#take(waiting)
    }
    return status === EXIT.OK && this.#interrupted && journal.conversation.items.length === 0 ? EXIT.INTERRUPTED : status
  }

  /** Somebody wants an end of this: also of the first turn, should it not have begun, where it is the only one. */
  interrupt(): void {
    if (this.begun === 0) this.#interrupted = true
    this.endTurn()
  }

  /** Ends the turn that runs, if any. */
  endTurn(): void {
    this.#turn?.abort.abort()
  }

  /** Ends the turn that runs, and begins no other. Resolves when it has ended. */
  async leave(): Promise<void> {
    this.inputs.drop()
    this.endTurn()
    await this.#turn?.ended
  }

  async #take(input: UserInput): Promise<number> {
    const { journal, once, surroundings } = this.#options
    closeHistory(journal)
    const abort = manyListeners()
    if (once && this.#interrupted) abort.abort()
    return turnStatus(await this.#run(abort, runTurn(input, this.begun++, surroundings(), abort.signal)))
  }

  #control(control: Exclude<Waiting, UserInput>): Promise<void> {
    const abort = manyListeners()
    return this.#run(abort, this.#options.control(control, abort.signal))
  }

  async #run<End>(abort: AbortController, ended: Promise<End>): Promise<End> {
    this.#turn = { abort, ended }
    const end = await ended
    this.#turn = undefined
    return end
  }
}

/** Each request of a turn listens, until its connection has ended: with quick answers more than the ten at which Node warns of a leak. */
function manyListeners(): AbortController {
  const abort = new AbortController()
  setMaxListeners(0, abort.signal)
  return abort
}

/** Calls that a session before us left without a result. */
function closeHistory(journal: Journal): void {
  for (const [id, name] of [...journal.conversation.openCalls]) {
    journal.send(messageFields('TOOL_RESULT', [id, name, 'The call was interrupted.'], { status: 'cancelled' }))
  }
}
