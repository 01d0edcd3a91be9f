import { setImmediate } from 'node:timers/promises'
import { encodeFrame, type FieldValue, Frame } from '@agentpipe/frame'
import { buildToolCall, type Message, parseMessage } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'
import type { Conversation } from './conversation.js'

/** The longest time that work goes on from promise to promise, in milliseconds: signals, timers and input come in between. */
const SLICE_MS = 5

/** What happens is sent as frames, and becomes part of the conversation by those same frames: the log of a session holds all of it. */
export class Journal {
  readonly conversation: Conversation
  readonly #output: Output
  readonly #told: (event: Message) => void
  #paused = performance.now()

  /** `told` hears of every event. */
  constructor(output: Output, conversation: Conversation, told: (event: Message) => void = () => {}) {
    this.#told = told
    this.#output = output
    this.conversation = conversation
  }

  /** Sends an event, given as the fields of its frame. */
  send(fields: readonly FieldValue[]): void {
    this.#write(encodeFrame(fields))
  }

  /** Sends a TOOL_CALL. */
  call(name: string, id: string, input: string, opaque?: string): void {
    this.#write(buildToolCall(name, id, input, opaque))
  }

  /** Takes an event that somebody else has sent. */
  take(frame: Frame): void {
    const event = parseMessage(frame)
    if (event === undefined) return
    this.conversation.take(event)
    this.#told(event)
  }

  /** What to wait for before more is sent: nothing, unless the reader is behind or the event loop has not turned for a while. */
  ready(): Promise<void> | undefined {
    if (performance.now() - this.#paused > SLICE_MS) return this.#pause()
    return this.#output.backedUp ? this.#output.drained() : undefined
  }

  async #pause(): Promise<void> {
    await setImmediate()
    this.#paused = performance.now()
  }

  #write(bytes: Buffer): void {
    const frame = new Frame(bytes, 0, bytes.length, 0)
    this.take(frame)
    this.#output.pass(frame)
  }
}
