import { StringDecoder } from 'node:string_decoder'
import type { Frame } from '@agentpipe/frame'
import { attributesOf, closesResponse } from './attributes.js'

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
 * Finds the answer of each turn: what the model says in the turn's last response, and in those before it that broke off (ERROR cut) and were gone on from.
 *
 * Whether a text is the answer is known at STOP: a response may follow, because the model was told that something was missing or wrong, and RETRY
 * voids what an unfinished response said. So a text is held until then. Where HELLO came, no tool was defined, and it does not say that the
 * answer is checked, there it is given word by word, and a RETRY begins a new line.
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
  /** What is held is of a response that has ended, and was not gone on from. */
  #over = false
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
        this.#streams = !this.#toolDefined && !attributesOf(frame).has('answer')
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
        this.#startAnew()
        return
      case 'USAGE':
        if (!closesResponse(frame)) return
        if (this.#streams) this.#give()
        else this.#over = true
        return
      case 'ERROR':
        if (this.#over && attributesOf(frame).get('code')?.toString() === 'cut') this.#over = false
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
    if (this.#over) this.#startAnew()
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

  #startAnew(): void {
    if (this.#given) this.#sink.text('\n')
    this.#void()
  }

  #void(): void {
    this.#length = 0
    this.#decoder = new StringDecoder('utf8')
    this.#given = false
    this.#apart = false
    this.#over = false
  }
}

const NEW_LINE = Buffer.from('\n')
