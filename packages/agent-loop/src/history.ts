import { encodeFrame, Frame } from '@agentpipe/frame'
import { type Message, parseMessage } from '@agentpipe/message'

/** The message that a HISTORY frame holds; undefined for a type that we don't know. Throws FrameError when it is malformed. */
export function recordedMessage(history: Frame): Message | undefined {
  const bytes = encodeFrame(history.fields().slice(1))
  return parseMessage(new Frame(bytes, 0, bytes.length, history.offset))
}
