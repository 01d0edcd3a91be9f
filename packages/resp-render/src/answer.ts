import { StringDecoder } from 'node:string_decoder'
import type { Frame } from '@agentpipe/frame'
import { closesResponse } from './attributes.js'

/** A text that gets longer than this many bytes is not held back any longer. */
const MOST_HELD = 4 * 1024 * 1024
const FIRST_BYTES = 4096

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
  #held = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0
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
        this.#text(frame.field(1) as Buffer)
        return
      case 'THINKING':
        this.#apart = true
        return
      case 'TOOL_CALL':
        this.#void()
        return
      case 'RETRY':
        this.drain()
        if (this.#given) this.#sink.text('\n')
        this.#void()
        return
      case 'USAGE':
        if (closesResponse(frame)) this.#give()
        return
      case 'STOP':
        this.end()
        return
    }
  }

  /** The frames that came so far are all there are for now: what is known to be the answer is given. */
  drain(): void {
    if (this.#streams) this.#release()
  }

  /** The turn, or the input, has ended. */
  end(): void {
    this.#give()
    this.#sink.end()
  }

  #text(piece: Buffer): void {
    if (piece.length === 0) return
    if (this.#apart && (this.#given || this.#length > 0)) this.#hold(NEW_LINE)
    this.#apart = false
    if (this.#length + piece.length > MOST_HELD) this.#release()
    if (piece.length <= MOST_HELD) this.#hold(piece)
    else for (let at = 0; at < piece.length; at += MOST_HELD) this.#write(piece.subarray(at, at + MOST_HELD))
  }

  #hold(piece: Buffer): void {
    if (this.#length + piece.length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#held.length * 2, this.#length + piece.length))
      this.#held.copy(larger, 0, 0, this.#length)
      this.#held = larger
    }
    piece.copy(this.#held, this.#length)
    this.#length += piece.length
  }

  /** What is held is the answer, or part of it. */
  #release(): void {
    this.#write(this.#held.subarray(0, this.#length))
    this.#length = 0
  }

  #write(bytes: Buffer): void {
    const text = this.#decoder.write(bytes)
    if (text !== '') this.#sink.text(text)
    this.#given ||= text !== ''
  }

  #give(): void {
    this.#release()
    const rest = this.#decoder.end()
    if (rest !== '') this.#sink.text(rest)
    this.#void()
  }

  #void(): void {
    this.#length = 0
    this.#decoder = new StringDecoder('utf8')
    this.#given = false
    this.#apart = false
  }
}

const NEW_LINE = Buffer.from('\n')
