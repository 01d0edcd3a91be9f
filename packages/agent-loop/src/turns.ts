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
  readonly surroundings: Surroundings
  /** Does what a CONTROL asks for, between turns. */
  readonly control: (control: Exclude<Waiting, UserInput>) => void
}

/** Turn after turn, in the order of the inputs. */
export class Turns {
  readonly inputs = new Inputs()
  readonly #options: TurnsOptions
  /** How many were begun. */
  begun = 0
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
      if (waiting.type === 'CONTROL') this.#options.control(waiting)
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
    const abort = new AbortController()
    if (once && this.#interrupted) abort.abort()
    const turn = runTurn(input, this.begun++, surroundings, abort.signal)
    this.#turn = { abort, ended: turn }
    const end = await turn
    this.#turn = undefined
    return turnStatus(end)
  }
}

/** Calls that a session before us left without a result. */
function closeHistory(journal: Journal): void {
  for (const [id, name] of [...journal.conversation.openCalls]) {
    journal.send(messageFields('TOOL_RESULT', [id, name, 'The call was interrupted.'], { status: 'cancelled' }))
  }
}
