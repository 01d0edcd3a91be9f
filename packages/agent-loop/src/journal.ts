import { encodeFrame, type FieldValue, type Frame, FrameDecoder } from '@agentpipe/frame'
import { buildToolCall, parseMessage } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'
import type { Conversation } from './conversation.js'

/** What happens is sent as frames, and becomes part of the conversation by those same frames: the log of a session holds all of it. */
export class Journal {
  readonly conversation: Conversation
  readonly #output: Output

  constructor(output: Output, conversation: Conversation) {
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
    if (event !== undefined) this.conversation.take(event)
  }

  /** Resolves when more may be sent: at once, unless the reader is behind. */
  ready(): Promise<void> | undefined {
    return this.#output.backedUp ? this.#output.drained() : undefined
  }

  #write(bytes: Buffer): void {
    new FrameDecoder().push(bytes, (frame) => {
      this.take(frame)
      this.#output.pass(frame)
    })
  }
}
