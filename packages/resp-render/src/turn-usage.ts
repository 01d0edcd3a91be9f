import type { Frame } from '@agentpipe/frame'
import { wholeNumber } from './attributes.js'
import { grouped, plural } from './invisible.js'

/** The tokens of a turn, from its USAGE frames: its responses', its sub-agents' and those of making a summary. */
export class TurnUsage {
  #requests = 0
  #input = 0
  #output = 0
  #cached = 0

  add(frame: Frame): void {
    const [input = 0, output = 0, read = 0, created = 0] = [1, 2, 3, 4].map((index) => wholeNumber(frame.field(index)))
    this.#requests++
    this.#input += input + read + created
    this.#output += output
    this.#cached += read
  }

  /** The turn is over: its tokens in a line, or '' where nothing was said of them. */
  take(): string {
    if (this.#requests === 0) return ''
    const cached = this.#cached === 0 ? '' : ` (${grouped(this.#cached)} from cache)`
    const line = `${plural(this.#input, 'token')} in${cached}, ${grouped(this.#output)} out, ${plural(this.#requests, 'model request')}`
    this.#requests = this.#input = this.#output = this.#cached = 0
    return line
  }
}
