import type { Frame } from '@agentpipe/frame'
import { parseMessage } from '@agentpipe/message'
import type { LogEntry } from './log-reader.js'

/** Something that was said, called or answered, whole: pieces of streamed text are joined. */
export interface Block {
  /** Number and time of the event that it begins with. */
  readonly seq: number
  readonly time: string
  /** The frame's type. */
  readonly type: string
  /** Of the tool, for what is called or answered. */
  readonly name?: string
  /** Of the call. */
  readonly id?: string
  /** How the call ended. */
  readonly status?: string | undefined
  text: string
}

/** The blocks of a session, in order. Live output is left out, its result has it; so is what says nothing in words. */
export function* blocksOf(entries: Iterable<LogEntry>): Generator<Block> {
  let open: Block | undefined
  for (const { record, frame } of entries) {
    const block = blockOf(frame, record.seq, record.time)
    if (block === undefined && frame.type === 'TOOL_OUTPUT') continue
    if (block !== undefined && open !== undefined && block.type === open.type && STREAMED.has(block.type)) {
      open.text += block.text
      continue
    }
    if (open !== undefined) yield open
    open = block
  }
  if (open !== undefined) yield open
}

/** What comes in pieces. */
const STREAMED: ReadonlySet<string> = new Set(['TEXT', 'THINKING'])

function blockOf(frame: Frame, seq: number, time: string): Block | undefined {
  const message = parseMessage(frame)
  if (message === undefined) return undefined
  const { type } = message
  switch (type) {
    case 'USER_MESSAGE':
    case 'TEXT':
    case 'THINKING':
    case 'SUB_AGENT_RESULT':
      return { seq, time, type, text: message.text }
    case 'TOOL_CALL':
      return { seq, time, type, name: message.name, id: message.id, text: message.input }
    case 'TOOL_RESULT':
      return { seq, time, type, name: message.name, id: message.id, status: message.attributes.status, text: message.output }
    case 'CONTEXT_UPDATE':
      return { seq, time, type, text: message.attributes.summary ?? '' }
    case 'ERROR':
      return { seq, time, type, text: message.message }
    case 'STOP':
      return { seq, time, type, text: message.reason }
    default:
      return undefined
  }
}
