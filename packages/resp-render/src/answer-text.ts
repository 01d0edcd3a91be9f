import type { Frame } from '@agentpipe/frame'
import { checkMessage } from '@agentpipe/message'
import { Answer } from './answer.js'
import { Sanitiser, type TextSink } from './sanitiser.js'

/** `--format text`: the answers alone, not wrapped; nothing in them acts on a terminal. Each ends its line. */
export class AnswerText implements TextSink {
  readonly #answer = new Answer({ text: (piece) => this.#piece(piece), end: () => this.#endTurn() })
  readonly #sanitiser = new Sanitiser()
  #text = ''
  #returned = false
  #inLine = false

  frame(frame: Frame): void {
    checkMessage(frame)
    this.#answer.frame(frame)
  }

  take(): string {
    this.#answer.drain()
    const text = this.#text
    this.#text = ''
    return text
  }

  end(): void {
    this.#answer.end()
  }

  text(run: string): void {
    this.#write(this.#returned && !run.startsWith('\n') ? `\n${run}` : run)
  }

  tab(): void {
    this.#write(this.#returned ? '\n\t' : '\t')
  }

  carriageReturn(): void {
    this.#returned = true
  }

  #piece(piece: string): void {
    this.#sanitiser.push(piece, this)
  }

  #endTurn(): void {
    this.#sanitiser.reset()
    this.#returned = false
    if (this.#inLine) this.#write('\n')
  }

  #write(text: string): void {
    this.#returned = false
    this.#text += text
    this.#inLine = !text.endsWith('\n')
  }
}
