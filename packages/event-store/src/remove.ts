import { realpathSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { command, EXIT, StageError, stateDirectory, systemError, usage } from '@agentpipe/stage'
import { readingOptions } from './reading.js'
import { lockSession } from './session-lock.js'
import { findSession, type Session } from './sessions.js'

/** `event-store rm ID...`: sessions are gone, with all that is beside their logs. */
export const rm = command({
  purpose: 'remove sessions',
  options: readingOptions,
  operands: 'ID...',
  examples: ['event-store rm demo', 'event-store rm latest'],
  act({ options: { dir }, operands, output, diagnose }) {
    if (operands.length === 0) throw usage('expected IDs of sessions; see event-store list')
    // All or none where one is not clear.
    const sessions = new Map(operands.map((id) => findSession(stateDirectory(dir), id, diagnose)).map((session) => [session.log, session]))
    for (const session of sessions.values()) {
      remove(session)
      output.write(`removed ${session.id}\n`)
    }
  },
})

/** Throws StageError: 75 where another process writes the session, 74 where it can't be removed. */
export function remove({ log }: Session): void {
  const directory = dirname(log)
  try {
    // Held to the end, and gone with the rest. Of a link nothing but that is removed.
    const release = lockSession(realpathSync(directory))
    rmSync(directory, { recursive: true })
    release()
  } catch (error) {
    throw error instanceof StageError ? error : systemError(EXIT.IO, `cannot remove ${directory}`, error)
  }
  try {
    rmdirSync(dirname(directory))
  } catch {
    // There are other sessions.
  }
}
