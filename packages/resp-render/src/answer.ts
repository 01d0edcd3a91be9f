import { StringDecoder } from 'node:string_decoder'
import type { Frame } from '@agentpipe/frame'
import { attributesOf } from './attributes.js'

/** A text that gets longer than this many characters is not held back any longer. */
const MOST_HELD = 16 * 1024 * 1024

export interface AnswerSink {
  /** A piece of the answer, as the model gave it. */
  text(piece: string): void
  /** The turn is over. */
  end(): void
}

/**
 * Finds the answer of each turn: what the model says behind the turn's last tool call.
 *
 * Whether a text is the answer is known when its response has ended (USAGE, or STOP) without a tool call, and RETRY voids what an
 * unfinished response said. So a text is held until then. Where HELLO came and no tool was defined, nothing can be called:
 * there it is given word by word, and a RETRY begins a new line.
 */
export class Answer {
  readonly #sink: AnswerSink
  #decoder = new StringDecoder('utf8')
  #held = ''
  #streams = false
  #toolDefined = false
  /** Text was given since the last TOOL_CALL, USAGE, or STOP. */
  #given = false
  /** Something else came between two texts. */
  #apart = false

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** Takes a frame of a known type. */
  frame(frame: Frame): void {
    switch (frame.type) {
      case 'TOOL_DEF':
        this.#toolDefined = true
        this.#streams = false
        return
      case 'HELLO':
        this.#streams = !this.#toolDefined
        return
      case 'TEXT':
        this.#text(this.#decoder.write(frame.field(1) as Buffer))
        return
      case 'THINKING':
        this.#apart = true
        return
      case 'TOOL_CALL':
        this.#void()
        return
      case 'RETRY':
        if (this.#given) this.#sink.text('\n')
        this.#void()
        return
      case 'USAGE':
        if (isOfTheAgent(frame)) this.#give()
        return
      case 'STOP':
        this.end()
        return
    }
  }

  /** The turn, or the input, has ended. */
  end(): void {
    this.#give()
    this.#sink.end()
  }

  #text(piece: string): void {
    if (piece === '') return
    const separator = this.#apart && (this.#given || this.#held !== '') ? '\n' : ''
    this.#apart = false
    this.#held += separator + piece
    if (!this.#streams && this.#held.length <= MOST_HELD) return
    this.#sink.text(this.#held)
    this.#held = ''
    this.#given = true
  }

  #give(): void {
    const text = this.#held + this.#decoder.end()
    if (text !== '') this.#sink.text(text)
    this.#void()
  }

  #void(): void {
    this.#held = ''
    this.#decoder = new StringDecoder('utf8')
    this.#given = false
    this.#apart = false
  }
}

/** Whether USAGE closes a response of the conversation: not the making of a summary, not a sub-agent's. */
function isOfTheAgent(frame: Frame): boolean {
  const kind = attributesOf(frame).get('kind')?.toString() ?? 'agent'
  return kind !== 'compact' && kind !== 'sub_agent'
}
