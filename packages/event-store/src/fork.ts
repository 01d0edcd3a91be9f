import { existsSync, renameSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSessionId, SESSION_ID_FORM } from '@agentpipe/message'
import { command, EXIT, logPath, makeDirectory, StageError, syncDirectories, systemError, usage } from '@agentpipe/stage'
import { wholeLines } from './export.js'
import { Progress } from './progress.js'
import { readingOptions, sessionFile } from './reading.js'
import { makeSessionId } from './session-id.js'
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
    if (!isSessionId(id)) throw usage(`--session: expected ${SESSION_ID_FORM}, found ${JSON.stringify(id)}`)
    const { log } = sessionFile(context)
    const directory = join(dirname(dirname(log)), id)
    if (existsSync(logPath(directory))) throw new StageError(EXIT.CANNOT_CREATE, `there is a session ${id} already: give another --session`)
    try {
      const progress = new Progress([{ log }])
      copy(log, directory, { read: progress.read, toSeq: at })
      progress.clear()
    } catch (error) {
      throw error instanceof StageError ? error : systemError(EXIT.CANNOT_CREATE, `cannot write ${directory}`, error)
    }
    context.output.write(`${id}\n`)
  },
})

/** The session is there in one step, when all of it is on disk. */
function copy(log: string, directory: string, what: Parameters<typeof wholeLines>[1]): void {
  makeDirectory(directory)
  const path = logPath(directory)
  const copied = new SideFile(sidePath(path, 'new'))
  try {
    for (const piece of wholeLines(log, what)) copied.write(piece)
    copied.finish()
    renameSync(copied.path, path)
  } catch (error) {
    copied.discard()
    withoutDirectory(directory)
    throw error
  }
  syncDirectories(directory)
}

/** One that was there before, with something in it, stays. */
function withoutDirectory(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // It is not empty.
  }
}
