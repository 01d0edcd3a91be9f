import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from '@agentpipe/frame'
import { isSessionId, parseMessage, SESSION_ID_FORM } from '@agentpipe/message'
import {
  type Diagnose,
  EXIT,
  logPath,
  makeDirectory,
  projectDirectory,
  StageError,
  stateDirectory,
  syncDirectories,
  systemError,
  workingDirectory,
} from '@agentpipe/stage'
import { LogWriter } from './log-writer.js'
import { makeSessionId } from './session-id.js'
import { lockSession } from './session-lock.js'
import { latestOf, sessionsIn } from './sessions.js'

export interface RecordingOptions {
  readonly session: string | undefined
  readonly continue: boolean
  readonly fsync: 'always' | 'turn' | 'never'
  readonly dir: string | undefined
  readonly 'path-file': string | undefined
}

/** A session that is being written. */
export interface Recording {
  readonly log: LogWriter
  /** Number of the last event in it. */
  seq: number
  /** Everything on disk, and the session free for another writer. Throws StageError (74). */
  close(): void
}

/**
 * Opens the session that a stream belongs to, by its first event: HELLO names session and project where the options don't.
 * Throws StageError: 65 for an id that can't be one, 75 where another process writes it, 74 where it can't be written.
 */
export function openRecording(options: RecordingOptions, first: Frame, diagnose: Diagnose): Recording {
  const hello = helloOf(first)
  const project = projectDirectory(stateDirectory(options.dir), hello.workingDirectory ?? workingDirectory())
  const continued = options.continue ? latestOf(sessionsIn(project))?.id : undefined
  const directory = join(project, options.session ?? continued ?? checkedId(hello.session) ?? makeSessionId(new Date()))
  const path = logPath(directory)
  try {
    makeDirectory(directory)
    const release = lockSession(directory)
    process.on('exit', release)
    const log = new LogWriter(path)
    if (options['path-file'] !== undefined) tellPath(options['path-file'], path)
    if (log.aside !== undefined) diagnose(`the last line of ${path} was torn: set aside as ${log.aside}`)
    if (log.lastSeq === 0 && options.fsync !== 'never') syncDirectories(directory)
    return { log, seq: log.lastSeq, close: () => close(log, options, release) }
  } catch (error) {
    if (error instanceof StageError) throw error
    throw systemError(EXIT.IO, `cannot write ${path}`, error)
  }
}

/** Throws StageError (73). */
function tellPath(file: string, path: string): void {
  try {
    writeFileSync(file, `${path}\n`)
  } catch (error) {
    throw systemError(EXIT.CANNOT_CREATE, `cannot write ${file}`, error)
  }
}

function close(log: LogWriter, { fsync }: RecordingOptions, release: () => void): void {
  try {
    if (fsync !== 'never') log.sync()
    log.close()
  } catch (error) {
    throw systemError(EXIT.IO, `cannot write ${log.path}`, (error as Error).cause ?? error)
  }
  release()
}

/** What the first event says of its session: only a HELLO says anything. */
function helloOf(frame: Frame): { session?: string; workingDirectory?: string } {
  const message = frame.type === 'HELLO' ? parseMessage(frame) : undefined
  if (message?.type !== 'HELLO') return {}
  const { cwd } = message.attributes
  return { session: message.session_id, ...(cwd?.startsWith('/') ? { workingDirectory: cwd } : {}) }
}

/** An id from a frame: anyone may have written it. An empty one is none. */
function checkedId(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined
  if (!isSessionId(id)) throw new StageError(EXIT.DATA, `HELLO: expected a session id of ${SESSION_ID_FORM}, found ${JSON.stringify(id.slice(0, 128))}`)
  return id
}
