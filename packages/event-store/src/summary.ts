import { parseMessage } from '@agentpipe/message'
import { recordsIn } from './damaged-line.js'
import { logLines } from './log-reader.js'
import { frameOf } from './record.js'
import { lastEventOf, type Session } from './sessions.js'

/** Characters of a prompt that are kept. */
const PROMPT_LENGTH = 1000
/** A record's head, up to its type, is shorter. */
const HEAD_BYTES = 128
const HEAD = /^\{"v":1,"seq":\d+,"ts":"[^"\\]*","type":"([a-z0-9_]+)"/

/** What a listing says of a session. */
export interface Summary {
  readonly session: Session
  /** Time of the last event, as recorded; undefined where there is none. */
  readonly lastEvent: string | undefined
  /** Inputs that were taken up. */
  readonly turns: number
  /** The first of them, cut to 1,000 characters. */
  readonly prompt: string | undefined
  /** Why the log could not be read. */
  readonly problem: string | undefined
}

/** Reads a log for its summary. Damage counts as nothing; a log that can't be read has a summary that says so. */
export function summaryOf(session: Session): Summary {
  let turns = 0
  let prompt: string | undefined
  let problem: string | undefined
  try {
    for (const text of prompts(session.log)) {
      turns++
      prompt ??= text
    }
  } catch (error) {
    problem = (error as Error).message
  }
  return { session, lastEvent: lastEventOf(session), turns, prompt, problem }
}

/** The text of each USER_MESSAGE. Lines of other types are not parsed: a listing looks at every line of every log. */
function* prompts(log: string): Generator<string> {
  for (const { bytes } of logLines(log)) {
    const type = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1]
    if (type !== undefined && type !== 'user_message') continue
    for (const record of recordsIn(bytes).records) if (record.type === 'USER_MESSAGE') yield textOf(record)
  }
}

function textOf(record: Parameters<typeof frameOf>[0]): string {
  try {
    const message = parseMessage(frameOf(record))
    return message?.type === 'USER_MESSAGE' ? cut(message.text) : ''
  } catch {
    return ''
  }
}

/** Cut between characters: half a surrogate pair is no text. */
function cut(text: string): string {
  return [...text.slice(0, PROMPT_LENGTH * 2)].slice(0, PROMPT_LENGTH).join('')
}
