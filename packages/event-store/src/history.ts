import { DEFAULT_LIMITS, Frame } from '@agentpipe/frame'
import { buildMessage, type MessageType, parseMessage, TOLD_TO_THE_MODEL } from '@agentpipe/message'
import { type Context, command, stateDirectory } from '@agentpipe/stage'
import { startOfConversation } from './conversation-start.js'
import { inLog } from './log-reader.js'
import { withProgress } from './progress.js'
import { entriesOf, oneId, readingOptions, sessionFile } from './reading.js'
import { exactSession, type Session } from './sessions.js'

/** What a conversation is rebuilt from. Live output, requests for permission and what was said to people are no part of it. */
const CONVERSATION: ReadonlySet<string> = new Set<MessageType>([
  'USER_MESSAGE',
  'TEXT',
  'THINKING',
  'TOOL_CALL',
  'TOOL_RESULT',
  'USAGE',
  'SUB_AGENT_RESULT',
  'STOP',
  'CONTEXT_UPDATE',
  'RETRY',
])

const HISTORY_FIELD = '$7\r\nHISTORY\r\n'

const options = {
  'or-none': { type: 'flag', about: 'print nothing where no session here has just this ID' },
  ...readingOptions,
} as const

/** `event-store history ID`: the conversation as HISTORY frames, to stand in front of agent-loop's input. */
export const history = command({
  purpose: 'print the conversation as HISTORY frames',
  options,
  operands: 'ID',
  examples: ['event-store history latest | resp json', '{ event-store history latest; resp write USER_INPUT "go on"; } | resp dump'],
  act(context) {
    const { output } = context
    const session = sessionToGoOn(context)
    if (session === undefined) return
    const start = inLog(session.log, startOfConversation)
    return withProgress(context.diagnose, session.log, ({ read, diagnose }) => {
      read(start)
      const calls = new Set<string | undefined>()
      for (const { record, frame } of entriesOf({ diagnose }, session.log, { start, read })) {
        if (!isConversation(frame)) continue
        // Of a call that a summary stands for, nothing is to be answered.
        if (frame.type === 'TOOL_CALL') calls.add(frame.text(2))
        if (frame.type === 'TOOL_RESULT' && start > 0 && !calls.has(frame.text(1))) continue
        const pieces = historyFrame(frame) ?? historyFrame(withoutRepeats(frame))
        if (pieces === undefined) diagnose(`event ${record.seq} is too large for a HISTORY frame: left out`)
        else for (const piece of pieces) output.write(piece)
        if (output.closed) return
      }
    })
  },
})

/** A new session's id may be the beginning of another's: who does not know whether there is one must not get that other's conversation. */
function sessionToGoOn(context: Context<typeof options>): Session | undefined {
  return context.options['or-none'] ? exactSession(stateDirectory(context.options.dir), oneId(context)) : sessionFile(context)
}

function isConversation(frame: Frame): boolean {
  if (CONVERSATION.has(frame.type)) return true
  if (frame.type !== 'ERROR') return false
  const message = parseMessage(frame)
  return message?.type === 'ERROR' && TOLD_TO_THE_MODEL.has(message.attributes.code)
}

/** A TOOL_CALL without the members of its input, which are in the input itself. */
function withoutRepeats(frame: Frame): Frame {
  if (frame.type !== 'TOOL_CALL') return frame
  const [, name, id, input] = frame.fields() as [Buffer, Buffer, Buffer, Buffer]
  const message = parseMessage(frame)
  const bytes = buildMessage('TOOL_CALL', [name, id, input], message?.type === 'TOOL_CALL' ? message.attributes : {})
  return new Frame(bytes, 0, bytes.length, 0)
}

/** The frame with HISTORY in front of its fields, in two pieces; undefined past the limits of a frame. */
function historyFrame(frame: Frame): [Buffer, Buffer] | undefined {
  const { bytes, count } = frame
  const fields = bytes.subarray(bytes.indexOf('\n') + 1)
  const head = Buffer.from(`*${count + 1}\r\n${HISTORY_FIELD}`)
  if (count >= DEFAULT_LIMITS.fields || head.length + fields.length > DEFAULT_LIMITS.frameBytes) return undefined
  return [head, fields]
}
