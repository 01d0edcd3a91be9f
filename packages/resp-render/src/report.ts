import type { Frame } from '@agentpipe/frame'
import { checkMessage, jsonText } from '@agentpipe/message'
import { Answer } from './answer.js'
import { wholeNumber } from './attributes.js'

/** Errors that are kept, the last ones. */
const MOST_ERRORS = 100
const USAGE_MEMBERS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_creation_tokens'] as const

/**
 * `--format json`: one object at the end. `text` is the answer of the last turn, as the model gave it, `stop_reason` how
 * that turn ended (null: it didn't), `usage` the sum of everything.
 */
export class Report {
  readonly #answer = new Answer({
    text: (piece) => {
      this.#text += piece
    },
    end: () => {},
  })
  readonly #usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_creation_tokens: 0 }
  readonly #errors: string[] = []
  #text = ''
  #stopReason: string | null = null
  #sessionId: string | null = null
  #turns = 0
  #toolCalls = 0
  /** The next event is a new turn's. */
  #turnOver = false
  #ended = false

  frame(frame: Frame): void {
    checkMessage(frame)
    if (this.#turnOver && (frame.type === 'USER_MESSAGE' || frame.type === 'TEXT' || frame.type === 'TOOL_CALL')) this.#beginTurn()
    this.#answer.frame(frame)
    this.#count(frame)
  }

  /** The object, once there is no more to come. */
  take(): string {
    return this.#ended ? `${jsonText(this.#object())}\n` : ''
  }

  end(): void {
    if (!this.#turnOver) this.#answer.end()
    this.#ended = true
  }

  #beginTurn(): void {
    this.#turnOver = false
    this.#text = ''
    this.#stopReason = null
  }

  #count(frame: Frame): void {
    if (frame.type === 'HELLO') this.#sessionId ??= frame.text(2) as string
    else if (frame.type === 'TOOL_CALL') this.#toolCalls++
    else if (frame.type === 'ERROR') {
      this.#errors.push(frame.text(1) as string)
      if (this.#errors.length > MOST_ERRORS) this.#errors.shift()
    } else if (frame.type === 'USAGE') for (const [index, member] of USAGE_MEMBERS.entries()) this.#usage[member] += wholeNumber(frame.field(index + 1)) ?? 0
    else if (frame.type === 'STOP') {
      this.#turns++
      this.#turnOver = true
      this.#stopReason = frame.text(1) as string
    }
  }

  #object(): object {
    return {
      text: this.#text,
      stop_reason: this.#stopReason,
      session_id: this.#sessionId,
      turns: this.#turns,
      tool_calls: this.#toolCalls,
      usage: this.#usage,
      errors: this.#errors,
    }
  }
}
