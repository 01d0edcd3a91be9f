import type { Frame } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import { EXIT, type Output } from '@agentpipe/stage'
import { Draft } from './draft.js'
import { edit } from './editing.js'
import type { Press } from './keys.js'
import { Turn } from './turn.js'
import { type Once, type Picture, View } from './view.js'

export interface Surroundings {
  readonly output: Output
  /** Whether what happens comes round. */
  readonly ring: boolean
  readonly bell: boolean
  /** Stops the job, as Ctrl-Z does. */
  readonly suspend: () => void
  /** Leaves at once, though the ring has not ended. */
  readonly leave: (status: number) => void
}

/** After this long a second Ctrl-C is no second one. */
const TWICE_MS = 2000

/** A person at the terminal: presses of keys and frames that come round in, frames out. */
export class Prompter {
  readonly #around: Surroundings
  readonly #draft = new Draft()
  readonly #turn: Turn
  readonly #view: View
  /** Said below the draft until the next key. */
  #remark = ''
  #lastCtrlC = Number.NEGATIVE_INFINITY
  #scheduled = false
  #leaving = false

  constructor(around: Surroundings) {
    this.#around = around
    this.#turn = new Turn(around.output, around.ring)
    this.#view = new View(around.output)
  }

  /** Whether it has asked for the end. */
  get leaving(): boolean {
    return this.#leaving
  }

  frame(frame: Frame): void {
    if (this.#turn.frame(frame)) {
      this.#remark = ''
      this.#draw({ bell: this.#around.bell })
    } else this.#drawSoon()
    this.#around.output.pass(frame)
  }

  press(press: Press): void {
    this.#remark = ''
    if (press.kind === 'paste') this.#draft.insert(press.text)
    else this.#key(press)
    this.#drawSoon()
  }

  redraw(): void {
    this.#view.forget()
    this.#draw()
  }

  /** Asks for the end, whatever runs. A second time: without waiting for it. */
  leave(): void {
    if (this.#leaving || !this.#around.ring) {
      if (!this.#leaving) this.#around.output.send(messageFields('END', []))
      this.#leaving = true
      return void this.#around.leave(EXIT.OK)
    }
    this.#leaving = true
    if (this.#turn.running) this.#turn.interrupt()
    this.#around.output.send(messageFields('END', []))
  }

  #key(key: Extract<Press, { kind: 'key' }>): void {
    const { name } = key
    if (name === 'ctrl-c') return void this.#ctrlC()
    if (name === 'ctrl-z') return void this.#around.suspend()
    if (name === 'ctrl-d' && this.#draft.text === '') return void this.leave()
    if (name === 'return') return void this.#enter()
    if (name === 'ctrl-l') return void this.redraw()
    edit(this.#draft, key)
  }

  /** Clears the draft, else interrupts the turn, else leaves at the second time. */
  #ctrlC(): void {
    if (this.#draft.text !== '') return void this.#draft.cutAll()
    if (this.#turn.running && !this.#turn.interrupted) {
      this.#turn.interrupt()
      this.#draft.set(this.#turn.takeAllBack().join('\n'))
    } else if (Date.now() - this.#lastCtrlC < TWICE_MS) return void this.leave()
    this.#lastCtrlC = Date.now()
    this.#remark = this.#turn.running ? 'interrupting; Ctrl-C again leaves' : 'Ctrl-C again leaves'
  }

  #enter(): void {
    const { text, cursor } = this.#draft
    if (text.slice(0, cursor).endsWith('\\')) return void this.#draft.replaceFrom(cursor - 1, '\n')
    if (text.trim() === '') return
    this.#draft.set('')
    this.#turn.ask(text)
  }

  #picture(): Picture {
    const { text, cursor } = this.#draft
    const queued = this.#turn.waiting.map((input) => `queued: ${input}`)
    return { text, cursor, hint: this.#hint(), note: [...queued, this.#remark].filter((line) => line !== '').join('\n') }
  }

  #hint(): string {
    if (this.#leaving) return 'leaving'
    return this.#turn.running ? 'working: what you type waits, Ctrl-C interrupts' : 'ask for anything; /help'
  }

  #draw(once: Once = {}): void {
    this.#scheduled = false
    this.#view.draw(this.#picture(), once)
  }

  /** Once for all keys that came together. */
  #drawSoon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    process.nextTick(() => this.#scheduled && this.#draw())
  }
}
