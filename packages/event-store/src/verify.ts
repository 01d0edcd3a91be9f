import { dirname } from 'node:path'
import { type Context, command, EXIT, printable } from '@agentpipe/stage'
import { entriesIn, logLines } from './log-reader.js'
import { PlainLines } from './plain-line.js'
import { Progress } from './progress.js'
import { oneOfMany, readingOptions, sessionsMeant } from './reading.js'
import { repair } from './repair.js'
import { isBeingWritten } from './session-lock.js'
import type { Session } from './sessions.js'

const options = {
  repair: { type: 'flag', about: 'set damage aside in a file beside the log' },
  all: { type: 'flag', about: 'those of every directory, not only of this one' },
  ...readingOptions,
} as const

/** What was found in a log. */
interface Findings {
  events: number
  /** Lines that are not one whole record. */
  damaged: number
  /** Whole lines of a version or a type that we don't know. */
  unknown: number
  /** Numbers of events between the first and the last that no event has. */
  missing: number
}

/** `event-store verify [ID]`: whether logs are whole; status 65 where one is not. */
export const verify = command({
  purpose: 'check logs for damage',
  options,
  operands: '[ID]',
  examples: ['event-store verify latest', 'event-store verify --all --repair'],
  act(context) {
    const sessions = sessionsMeant(context, context.options.all)
    const progress = new Progress(sessions)
    const statuses = sessions.map((session) => verified(context, session, progress))
    progress.clear()
    return Math.max(EXIT.OK, ...statuses)
  },
})

function verified(context: Context<typeof options>, session: Session, progress: Progress): number {
  const { output, diagnose } = context
  const print = (text: string) => {
    progress.clear()
    output.write(`${text}\n`)
    output.flush()
  }
  let status: number = EXIT.OK
  const read = oneOfMany(progress.around(diagnose), () => {
    const findings = examine(session.log, progress.read, (line, problem) => print(printable(`${session.log}: line ${line}: ${problem}`)))
    const aside = findings.damaged > 0 && context.options.repair ? repair(session.log) : undefined
    print(`${session.id}: ${summary(findings)}${aside === undefined ? '' : `; repaired: what was damaged is in ${printable(aside)}`}`)
    if (findings.damaged > 0 && aside === undefined) status = EXIT.DATA
  })
  return Math.max(status, read)
}

/** Reads a whole log. What a live writer has not yet ended is no damage. */
function examine(log: string, read: (bytes: number) => void, tell: (line: number, problem: string) => void): Findings {
  const findings = { events: 0, damaged: 0, unknown: 0, missing: 0 }
  let number = 0
  let last: number | undefined
  const plain = new PlainLines()
  const follow = (seq: number) => {
    if (last !== undefined && seq > last + 1) findings.missing += seq - last - 1
    last = Math.max(last ?? 0, seq)
  }
  for (const line of logLines(log)) {
    number++
    read(line.length)
    const head = plain.recordIn(line.bytes)
    if (head !== undefined) {
      findings.events++
      follow(head.seq)
      continue
    }
    const { entries, problems, unknown } = entriesIn(line)
    if (!line.ended && problems.length > 0 && isBeingWritten(dirname(log))) break
    for (const problem of problems) tell(number, line.ended ? problem : `torn, ${problem}`)
    if (unknown) findings.unknown++
    else if (problems.length > 0) findings.damaged++
    findings.events += entries.length
    for (const { record } of entries) follow(record.seq)
  }
  return findings
}

function summary({ events, damaged, unknown, missing }: Findings): string {
  const parts = [counted(events, 'event')]
  if (damaged > 0) parts.push(counted(damaged, 'damaged line'))
  if (unknown > 0) parts.push(counted(unknown, 'line').concat(' of an unknown kind'))
  if (missing > 0) parts.push(counted(missing, 'number').concat(' missing'))
  return parts.join(', ')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
