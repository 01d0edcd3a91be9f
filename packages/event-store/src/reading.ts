import { dirname } from 'node:path'
import { type Context, type Diagnose, EXIT, projectDirectory, StageError, stateDirectory, usage, workingDirectory } from '@agentpipe/stage'
import { frameBytes } from './frame-bytes.js'
import { type Damaged, type Extent, type LogEntry, readLog } from './log-reader.js'
import type { Watched } from './progress.js'
import { isBeingWritten } from './session-lock.js'
import { allSessions, findSession, type Session, sessionsIn } from './sessions.js'

/** Damaged lines that are told of one by one. */
const TOLD = 10

/** Options of every verb that reads. */
export const readingOptions = {
  dir: { type: 'text', value: 'DIR', about: 'state directory, in place of XDG_STATE_HOME/agentpipe' },
} as const

type Reading = Pick<Context<typeof readingOptions>, 'options' | 'operands' | 'diagnose'>

/** The session that the one operand names. Throws StageError: 64, or 66 where there is none. */
export function sessionFile(context: Reading): Session {
  return findSession(stateDirectory(context.options.dir), oneId(context), context.diagnose)
}

/** The one operand. Throws StageError (64) where there is none, or more. */
export function oneId({ operands }: Pick<Reading, 'operands'>): string {
  const [id] = operands
  if (id === undefined || operands.length > 1) throw usage('expected one session ID, or latest; see event-store list')
  return id
}

/** The session that the operand names; without one those of this directory, or of all. Throws StageError: 64, or 66 where there is none. */
export function sessionsMeant(context: Reading, all: boolean): Session[] {
  return context.operands.length > 0 ? [sessionFile(context)] : sessionsHere(context, all)
}

/** The sessions of this directory, or of all. */
export function sessionsHere({ options: { dir }, diagnose }: Pick<Reading, 'options' | 'diagnose'>, all: boolean): Session[] {
  const state = stateDirectory(dir)
  return all ? allSessions(state, diagnose) : sessionsIn(projectDirectory(state, workingDirectory()))
}

/** What a log holds. Damaged lines are told of on stderr, the first ones each, the rest as a number; what a live writer has not yet ended is no damage. */
export function entriesOf(context: Telling, log: string, extent?: Extent): Generator<LogEntry> {
  return telling(context, log, (damaged) => readLog(log, damaged, extent))
}

/** The frames of a log from `start` on, as bytes that are valid until the next ones are asked for. Damage is told of as `entriesOf` does. */
export function framesOf(context: Watched, log: string, start = 0): Generator<Buffer> {
  context.read(start)
  return telling(context, log, (damaged) => frameBytes(log, damaged, start, context.read))
}

interface Telling {
  readonly diagnose: Diagnose
}

/** Reads one log of several. Where that can't be read it is told of, and the others can be; gives the status for it. */
export function oneOfMany(diagnose: Diagnose, read: () => void): number {
  try {
    read()
    return EXIT.OK
  } catch (error) {
    if (!(error instanceof StageError)) throw error
    diagnose(error.message)
    return error.status
  }
}

/** What `items` gives of a log: it is handed whom to tell of damage. */
export function* telling<Item>({ diagnose }: Telling, log: string, items: (damaged: Damaged) => Iterable<Item>): Generator<Item> {
  let count = 0
  const damaged = (where: string, damage: string) => {
    if (damage.startsWith('torn') && isBeingWritten(dirname(log))) return
    if (++count <= TOLD) diagnose(`${log}: ${where}: ${damage}`)
  }
  yield* items(damaged)
  if (count > TOLD) diagnose(`${log}: ${count - TOLD} more lines are damaged`)
}
