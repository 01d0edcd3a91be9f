import { existsSync, renameSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSessionId, SESSION_ID_FORM } from '@agentpipe/message'
import { command, EXIT, logPath, makeDirectory, StageError, syncDirectories, systemError, usage } from '@agentpipe/stage'
import { wholeLines } from './export.js'
import { Progress } from './progress.js'
import { readingOptions, sessionFile } from './reading.js'
import { makeSessionId } from './session-id.js'
import { lockSession } from './session-lock.js'
import { SideFile, sidePath } from './side-file.js'

const options = {
  at: { type: 'count', value: 'SEQ', about: 'only up to the event of this number' },
  session: { type: 'text', value: 'ID', about: "a new one's id" },
  ...readingOptions,
} as const

/** `event-store fork ID`: a new session that has the events of another one, to go on from there in another way. */
export const fork = command({
  purpose: 'begin a session with the events of another one',
  options,
  operands: 'ID',
  examples: ['event-store fork latest', 'event-store replay "$(event-store fork latest --at 1)" | resp json'],
  act(context) {
    const { at, session: id = makeSessionId(new Date()) } = context.options
    if (at === 0) throw usage('--at: expected the number of an event, 1 or more')
    if (!isSessionId(id)) throw usage(`--session: expected ${SESSION_ID_FORM}, found ${JSON.stringify(id)}`)
    const { log } = sessionFile(context)
    const directory = join(dirname(dirname(log)), id)
    try {
      const progress = new Progress([{ log }])
      copy(wholeLines({ read: progress.read, diagnose: progress.around(context.diagnose) }, log, at), directory)
      progress.clear()
    } catch (error) {
      throw error instanceof StageError ? error : systemError(EXIT.CANNOT_CREATE, `cannot write ${directory}`, error)
    }
    context.output.write(`${id}\n`)
  },
})

/** The session is there in one step, when all of it is on disk. */
function copy(lines: Iterable<Buffer>, directory: string): void {
  makeDirectory(directory)
  // Nobody else makes a session of this id meanwhile.
  const release = lockSession(directory)
  try {
    write(lines, logPath(directory))
  } finally {
    release()
    withoutDirectory(directory)
  }
  syncDirectories(directory)
}

/** Throws StageError (73) where there is such a log. */
function write(lines: Iterable<Buffer>, path: string): void {
  if (existsSync(path)) throw new StageError(EXIT.CANNOT_CREATE, `there is a session ${basename(dirname(path))} already: give another --session`)
  const copied = new SideFile(sidePath(path, 'new'))
  try {
    for (const line of lines) copied.write(line)
    copied.finish()
    renameSync(copied.path, path)
  } catch (error) {
    copied.discard()
    throw error
  }
}

/** One that was there before, with something in it, stays. */
function withoutDirectory(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // It is not empty.
  }
}
