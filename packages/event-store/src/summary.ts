import { createHash } from 'node:crypto'
import { fstatSync, readSync } from 'node:fs'
import type { CountCache, Counts } from './counts.js'
import { recordsIn } from './damaged-line.js'
import { firstPrompt } from './first-prompt.js'
import { linesOf } from './lines.js'
import { inLog, lastRecord } from './log-reader.js'
import { headsIn } from './record-head.js'
import type { Session } from './sessions.js'
import { addUsage, noTokens, type Tokens } from './tokens.js'

/** Bytes in front of where counting has come to that tell whether a log is still the one that was counted. */
const MARK_BYTES = 1024
/** Lines between looks at the clock. */
const LINES_AT_ONCE = 64

/** What a listing says of a session that it need not count for. */
export interface Outline {
  readonly session: Session
  /** Time of the last event, as recorded; undefined where there is none. */
  readonly lastEvent: string | undefined
  /** The first input, cut to 1,000 characters. */
  readonly prompt: string | undefined
  /** Size of the log. */
  readonly bytes: number
  /** Why the log could not be read. */
  readonly problem: string | undefined
}

/** What a listing counts. */
export interface Totals {
  /** Inputs that were taken up. */
  readonly turns: number
  readonly tokens: Tokens
  /** Whether that is all: false where there was no more time to count. */
  readonly counted: boolean
}

export interface CountOptions {
  readonly cache: CountCache
  /** Milliseconds that there are left for counting: all logs use of it, and only by what is counted, so that each listing comes further. */
  readonly budget: { left: number }
  /** Told of the bytes that are done. */
  readonly read: (bytes: number) => void
}

/** Looks at both ends of a log. One that can't be read has an outline that says so. */
export function outlineOf(session: Session): Outline {
  try {
    return inLog(session.log, (descriptor) => ({
      session,
      prompt: firstPrompt(descriptor),
      lastEvent: lastRecord(descriptor)?.time,
      bytes: fstatSync(descriptor).size,
      problem: undefined,
    }))
  } catch (error) {
    return { session, lastEvent: undefined, prompt: undefined, bytes: 0, problem: (error as Error).message.replace(` ${session.log}`, '') }
  }
}

/** Counts what was appended to a log since it was counted last. Damage counts as nothing. */
export function totalsOf(session: Session, { cache, budget, read }: CountOptions): Totals {
  try {
    return inLog(session.log, (descriptor) => {
      const known = knownCounts(descriptor, cache.of(session))
      read(known.bytes)
      const started = Date.now()
      const counts = count(descriptor, known, started + budget.left, read)
      budget.left -= Date.now() - started
      if (counts.known.bytes !== known.bytes) cache.put(session, { ...counts.known, mark: markAt(descriptor, counts.known.bytes) })
      return counts.totals
    })
  } catch {
    return { turns: 0, tokens: noTokens(), counted: true }
  }
}

type Known = Omit<Counts, 'mark'>

/** What is known of the very log that is open. */
function knownCounts(descriptor: number, counts: Counts | undefined): Known {
  const holds = counts !== undefined && counts.bytes <= fstatSync(descriptor).size && markAt(descriptor, counts.bytes) === counts.mark
  return holds ? counts : { bytes: 0, turns: 0, tokens: noTokens() }
}

/** Counts on from what is known. A last line that a live writer has not ended yet is not among what is known then. */
function count(descriptor: number, start: Known, until: number, read: (bytes: number) => void): { known: Known; totals: Totals } {
  const tokens = { ...start.tokens }
  let { bytes, turns } = start
  let lines = 0
  const known = () => ({ bytes, turns, tokens: { ...tokens } })
  for (const line of linesOf(descriptor, bytes)) {
    if (lines++ % LINES_AT_ONCE === 0 && Date.now() > until) return { known: known(), totals: { turns, tokens, counted: false } }
    const before = line.ended ? undefined : known()
    read(line.length)
    // Lines of other types are not parsed: sooner or later a listing looks at every line of every log.
    for (const { type } of headsIn(line)) {
      if (type === 'USER_MESSAGE') turns++
      if (type === 'USAGE') for (const record of recordsIn(line.bytes).records) if (record.type === 'USAGE') addUsage(tokens, record.members)
    }
    if (before !== undefined) return { known: before, totals: { turns, tokens, counted: true } }
    bytes = line.start + line.length + 1
  }
  return { known: known(), totals: { turns, tokens, counted: true } }
}

/** The file, and the bytes in front of `end`. */
function markAt(descriptor: number, end: number): string {
  const start = Math.max(0, end - MARK_BYTES)
  const bytes = Buffer.alloc(end - start)
  const length = readSync(descriptor, bytes, 0, bytes.length, start)
  return createHash('sha256')
    .update(`${fstatSync(descriptor).ino}:`)
    .update(bytes.subarray(0, length))
    .digest('hex')
    .slice(0, 32)
}
