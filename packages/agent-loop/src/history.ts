import { encodeFrame, Frame, FrameError } from '@agentpipe/frame'
import { type Message, parseMessage } from '@agentpipe/message'

/** The message that a HISTORY frame holds; undefined for a type that we don't know. Throws FrameError when it is malformed. */
export function recordedMessage(history: Frame): Message | undefined {
  const bytes = encode(history)
  return parseMessage(new Frame(bytes, 0, bytes.length, history.offset))
}

function encode(history: Frame): Buffer {
  try {
    return encodeFrame(history.fields().slice(1))
  } catch {
    throw new FrameError(history.offset, 'HISTORY with the fields of a frame, a type of A-Z, 0-9 and _ first', JSON.stringify(history.text(1)?.slice(0, 40)))
  }
}
