import type { Frame } from '@agentpipe/frame'
import { type MessageOf, messageFields, parseMessage } from '@agentpipe/message'
import { EXIT } from '@agentpipe/stage'
import { commandNames, isCommand, type Place, runCommand } from './commands.js'
import { common, complete, listed } from './completion.js'
import { Draft } from './draft.js'
import { edit } from './editing.js'
import { History } from './history.js'
import type { Press } from './keys.js'
import { picture } from './picture.js'
import { forModel, Programs } from './programs.js'
import { Questions } from './questions.js'
import { Recall, Search } from './recall.js'
import type { Surroundings } from './surroundings.js'
import { Turn } from './turn.js'
import { type Once, type Picture, View } from './view.js'

/** After this long a second Ctrl-C is no second one. */
const TWICE_MS = 2000

/** A person at the terminal: presses of keys and frames that come round in, frames out. */
export class Prompter {
  readonly #around: Surroundings
  readonly #draft = new Draft()
  readonly #history = new History()
  readonly #recall = new Recall(this.#history)
  readonly #turn: Turn
  readonly #view: View
  readonly #questions: Questions
  readonly #programs = new Programs((text) => this.show(text))
  readonly #place: Place
  #search: Search | undefined
  /** What commands of the person have printed, for the model, before the next input. */
  #ran = ''
  /** Said below the draft until the next key. */
  #remark = ''
  #hello: MessageOf<'HELLO'> | undefined
  #lastCtrlC = Number.NEGATIVE_INFINITY
  #scheduled = false
  /** Whether what is shown next is for another line of the person's than what was shown before. */
  #apart = false
  #leaving = false

  constructor(around: Surroundings) {
    this.#around = around
    this.#turn = new Turn(around.output, around.ring)
    this.#view = new View(around.output)
    this.#questions = new Questions(around.output, () => this.#draw({ bell: around.bell }))
    this.#place = this.#commandPlace()
  }

  /** Whether it has asked for the end. */
  get leaving(): boolean {
    return this.#leaving
  }

  frame(frame: Frame): void {
    const hello = frame.type === 'HELLO' ? parseMessage(frame) : undefined
    if (hello?.type === 'HELLO') this.#hello = hello
    const taken = this.#questions.frame(frame)
    if (this.#turn.frame(frame)) {
      this.#remark = ''
      this.#lastCtrlC = Number.NEGATIVE_INFINITY
      this.#draw({ bell: this.#around.bell })
    } else if (frame.type !== 'PROMPT') this.#drawSoon()
    if (!taken) this.#around.output.pass(frame)
  }

  press(press: Press): void {
    this.#remark = ''
    // A paste is text, and no key has happened, whatever is in it.
    const key = press.kind === 'key' ? press : ({ kind: 'key', name: '', text: press.text } as const)
    if (key.name === 'ctrl-z') this.#around.suspend()
    else if (press.kind === 'key' && this.#questions.asking && key.name !== 'ctrl-c') this.#answer(key.name)
    else {
      if (!this.#questions.asking) this.#questions.typed()
      if (this.#search) this.#searchKey(this.#search, key)
      else this.#key(key)
    }
    this.#drawSoon()
  }

  /** Shows text that stays above the prompt. */
  show(text: string): void {
    const show = this.#apart ? `\n${text}` : text
    this.#apart = false
    this.#draw({ show })
  }

  redraw(): void {
    this.#view.forget()
    this.#draw()
  }

  /** Asks for the end, whatever runs. A second time: without waiting for it. */
  leave(): void {
    this.#programs.interrupt()
    if (this.#leaving) {
      this.#around.leave(EXIT.OK)
      return
    }
    this.#leaving = true
    if (this.#turn.running) this.#turn.interrupt()
    this.#around.output.send(messageFields('END', []))
    if (!this.#around.ring) this.#around.leave(EXIT.OK)
  }

  #answer(name: string): void {
    if (!this.#questions.answer(name)) this.#remark = 'y, a or n answers; Ctrl-C interrupts the turn'
  }

  #key(key: Extract<Press, { kind: 'key' }>): void {
    const { text } = this.#draft
    if (key.name === 'ctrl-c') this.#ctrlC()
    else if (key.name === 'ctrl-d' && text === '') this.leave()
    else if (key.name === 'return') this.#enter()
    else if (key.name === 'ctrl-l') this.redraw()
    else if (key.name === 'tab') this.#complete()
    else if (key.name === 'ctrl-r') this.#search = new Search(this.#history, text)
    else if (key.name === 'up' || key.name === 'ctrl-p') this.#up()
    else if (key.name === 'down' || key.name === 'ctrl-n') this.#down()
    else if (edit(this.#draft, key)) this.#recall.reset()
  }

  /** Clears the draft, else interrupts what runs, else leaves at the second time. */
  #ctrlC(): void {
    if (this.#draft.text !== '' && !this.#questions.asking) {
      this.#draft.cutAll()
      this.#recall.reset()
      this.#lastCtrlC = Number.NEGATIVE_INFINITY
      return
    }
    if (this.#programs.running) this.#programs.interrupt()
    else if (this.#turn.running && !this.#turn.interrupted) this.#interrupt()
    else if (Date.now() - this.#lastCtrlC < TWICE_MS) this.leave()
    this.#lastCtrlC = Date.now()
    this.#remark = this.#turn.running ? 'interrupting; Ctrl-C again leaves' : 'Ctrl-C again leaves'
  }

  /** What waits is not done by itself after that. */
  #interrupt(): void {
    this.#turn.interrupt()
    this.#questions.clear()
    const waiting = this.#turn.takeAllBack()
    if (waiting.length > 0) this.#draft.set([this.#draft.text, ...waiting].filter((text) => text !== '').join('\n'))
  }

  #enter(): void {
    const { text, cursor } = this.#draft
    if (text.slice(0, cursor).endsWith('\\')) {
      this.#draft.replaceFrom(cursor - 1, '\n')
      return
    }
    if (text.trim() === '' || this.#leaving) return
    this.#draft.set('')
    this.#recall.reset()
    this.#apart = true
    this.#history.add(text)
    if (/^!\s*\S/.test(text)) void this.#run(text.slice(1).trim())
    else if (!isCommand(text)) this.#send(text)
    else if (!runCommand(this.#place, text)) this.#draft.set(text)
  }

  #send(text: string): void {
    this.#turn.ask(this.#ran + text)
    this.#ran = ''
  }

  async #run(command: string): Promise<void> {
    if (this.#programs.running) return this.#say('a command is running: Ctrl-C ends it')
    this.show(`! ${command}\n`)
    const { output, failure } = await this.#programs.run('/bin/sh', ['-c', command])
    if (failure !== undefined) this.show(`(${failure})\n`)
    this.#ran += forModel(command, { output, failure })
    this.#draw()
  }

  #say(remark: string): void {
    this.#remark = remark
    this.#drawSoon()
  }

  #complete(): void {
    const { text, cursor } = this.#draft
    const completion = complete(text, cursor, commandNames)
    if (completion === undefined || completion.choices.length === 0) return
    const { from, choices } = completion
    const longest = common(choices)
    const end = choices.length > 1 || longest.endsWith('/') ? '' : ' '
    if (choices.length > 1 && longest.length <= cursor - from) this.#remark = listed(choices)
    else this.#draft.replaceFrom(from, longest + end)
  }

  #up(): void {
    if (this.#draft.line(-1)) return
    const back = this.#draft.text === '' ? this.#turn.takeBack() : undefined
    const entry = back ?? this.#recall.older(this.#draft.text)
    if (entry !== undefined) this.#draft.set(entry)
  }

  #down(): void {
    if (this.#draft.line(1)) return
    const entry = this.#recall.newer()
    if (entry !== undefined) this.#draft.set(entry)
  }

  #searchKey(search: Search, key: Extract<Press, { kind: 'key' }>): void {
    if (search.key(key)) return
    const left = key.name === 'ctrl-c' || key.name === 'ctrl-g' || key.name === 'escape'
    this.#draft.set(left ? search.before : (search.found ?? search.before))
    this.#search = undefined
    if (!left && key.name !== 'tab') this.#key(key)
  }

  #picture(): Picture {
    const doing = this.#leaving ? 'leaving' : this.#programs.running ? 'command' : this.#turn.running ? 'turn' : undefined
    return picture({ draft: this.#draft, search: this.#search, questions: this.#questions, waiting: this.#turn.waiting, remark: this.#remark, doing })
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

  #commandPlace(): Place {
    return {
      turn: this.#turn,
      programs: this.#programs,
      show: (text) => this.show(text),
      remark: (text) => this.#say(text),
      send: (text) => this.#send(text),
      leave: () => this.leave(),
      session: () => this.#hello?.session_id,
      model: () => this.#hello?.attributes.model,
      next: this.#around.next,
    }
  }
}
