import { randomBytes } from 'node:crypto'
import type { Frame } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'

/** What goes on in the ring, and what waits for its end. One input is under way at a time: those behind it can still be taken back. */
export class Turn {
  readonly #output: Output
  /** Whether anybody tells us how turns end. */
  readonly #told: boolean
  readonly #waiting: string[] = []
  #state: 'idle' | 'running' | 'interrupted' = 'idle'

  constructor(output: Output, told: boolean) {
    this.#output = output
    this.#told = told
  }

  get running(): boolean {
    return this.#state !== 'idle'
  }

  get interrupted(): boolean {
    return this.#state === 'interrupted'
  }

  /** Inputs that wait. */
  get waiting(): readonly string[] {
    return this.#waiting
  }

  /** Sends an input, now or when the turn has ended. */
  ask(text: string): void {
    if (this.running) this.#waiting.push(text)
    else this.#send(text)
  }

  /** The last one of those that wait is taken back. */
  takeBack(): string | undefined {
    return this.#waiting.pop()
  }

  takeAllBack(): string[] {
    return this.#waiting.splice(0)
  }

  /** CONTROL. What takes long ends as a turn does. */
  control(name: string, args: string): void {
    this.#output.send(messageFields('CONTROL', [name, args]))
    if (name === 'compact' && this.#told) this.#state = 'running'
  }

  interrupt(): void {
    this.#output.send(messageFields('INTERRUPT', [randomBytes(8).toString('hex')]))
    this.#state = 'interrupted'
  }

  /** Takes notice of what comes round. True when a turn has ended by it. */
  frame(frame: Frame): boolean {
    if (frame.type === 'USER_MESSAGE' && this.#state === 'idle') this.#state = 'running'
    if (!this.running || !ends(frame)) return false
    this.#state = 'idle'
    const next = this.#waiting.shift()
    if (next !== undefined) this.#send(next)
    return next === undefined
  }

  #send(text: string): void {
    this.#output.send(messageFields('USER_INPUT', [text]))
    if (this.#told) this.#state = 'running'
  }
}

/** STOP ends a turn; CONTROL compact ends in a CONTEXT_UPDATE, or in an ERROR that says why not. */
function ends(frame: Frame): boolean {
  if (frame.type === 'STOP') return true
  if (frame.type === 'CONTEXT_UPDATE') return frame.text(2) === 'manual'
  return (
    frame.type === 'ERROR' &&
    frame.fields().some((field, index, fields) => index >= 2 && index % 2 === 0 && `${field}` === 'code' && `${fields[index + 1]}` === 'control')
  )
}
