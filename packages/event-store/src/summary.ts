import { fstatSync } from 'node:fs'
import { recordsIn } from './damaged-line.js'
import { linesOf } from './lines.js'
import { inLog, lastRecord } from './log-reader.js'
import type { EventRecord } from './record.js'
import { headsIn } from './record-head.js'
import type { Session } from './sessions.js'

/** Characters of a prompt that are kept. */
const PROMPT_LENGTH = 1000

/** Tokens as USAGE counts them: `input` without those of the cache. */
export interface Tokens {
  input: number
  output: number
  cache_read: number
  cache_creation: number
}

export function noTokens(): Tokens {
  return { input: 0, output: 0, cache_read: 0, cache_creation: 0 }
}

/** What a listing says of a session. */
export interface Summary {
  readonly session: Session
  /** Time of the last event, as recorded; undefined where there is none. */
  readonly lastEvent: string | undefined
  /** Inputs that were taken up. */
  readonly turns: number
  readonly tokens: Tokens
  /** The first input, cut to 1,000 characters. */
  readonly prompt: string | undefined
  /** Why the log could not be read. */
  readonly problem: string | undefined
}

/** Reads a log for its summary; `read` is told of the bytes. Damage counts as nothing; a log that can't be read has a summary that says so. */
export function summaryOf(session: Session, read: (bytes: number) => void = () => {}): Summary {
  const tokens = noTokens()
  try {
    return inLog(session.log, (descriptor) => ({ session, tokens, ...summarise(descriptor, tokens, read) }))
  } catch (error) {
    return { session, lastEvent: undefined, turns: 0, tokens, prompt: undefined, problem: (error as Error).message }
  }
}

function summarise(descriptor: number, tokens: Tokens, read: (bytes: number) => void) {
  let turns = 0
  let prompt: string | undefined
  for (const line of linesOf(descriptor)) {
    read(line.length)
    // Lines of other types are not parsed: a listing looks at every line of every log.
    if (!headsIn(line).some(({ type }) => type === 'USER_MESSAGE' || type === 'USAGE')) continue
    for (const record of recordsIn(line.bytes).records) {
      if (record.type === 'USAGE') addUsage(tokens, record)
      if (record.type !== 'USER_MESSAGE') continue
      turns++
      prompt ??= textOf(record)
    }
  }
  const lastEvent = fstatSync(descriptor).size === 0 ? undefined : lastRecord(descriptor)?.time
  return { turns, prompt, lastEvent, problem: undefined }
}

/** Adds what a USAGE says. */
export function addUsage(tokens: Tokens, { members }: EventRecord): void {
  for (const name of ['input', 'output', 'cache_read', 'cache_creation'] as const) tokens[name] += count(members[`${name}_tokens`])
}

export function allTokens({ input, output, cache_read, cache_creation }: Tokens): number {
  return input + output + cache_read + cache_creation
}

/** A number of tokens for people: 812, 45k, 1.2M. */
export function rounded(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  const [unit, letter] = tokens < 999_500 ? [1e3, 'k'] : [1e6, 'M']
  const value = tokens / (unit as number)
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${letter}`
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}

/** Cut between characters: half a surrogate pair is no text. */
function textOf({ members: { text, text_base64: base64 } }: EventRecord): string {
  const whole = typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : String(text ?? '')
  return [...whole.slice(0, PROMPT_LENGTH * 2)].slice(0, PROMPT_LENGTH).join('')
}
