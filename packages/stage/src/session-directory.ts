import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { readConfig } from './config.js'
import { usage } from './options.js'

/** Characters of a path that stand in a project's name. */
const NAME_LENGTH = 80
const HASH_DIGITS = 10

/** Where all state is kept: `--dir`, else agentpipe in the XDG state directory, which counts only if it is absolute. Throws StageError (64) for an empty one. */
export function stateDirectory(dir: string | undefined): string {
  // Of a variable that is not set: not the directory that somebody happens to be in.
  if (dir === '') throw usage('--dir: expected a directory, found ""')
  if (dir !== undefined) return resolve(dir)
  const xdg = process.env.XDG_STATE_HOME
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), '.local', 'state'), 'agentpipe')
}

/** The current directory; its last known path where it was removed. */
export function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return process.env.PWD ?? '/'
  }
}

/** The directory of all projects. */
export function projectsDirectory(state: string): string {
  return join(state, 'projects')
}

/**
 * The directory of the project that a working directory is: a readable form of its real path, and a hash that keeps apart what
 * reads alike. A path that is not there, or not absolute, counts as it stands.
 */
export function projectDirectory(state: string, directory: string): string {
  const path = realPath(directory)
  const readable = path
    .slice(-NAME_LENGTH)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
  const hash = createHash('sha256').update(path).digest('hex').slice(0, HASH_DIGITS)
  return join(projectsDirectory(state), readable === '' ? hash : `${readable}-${hash}`)
}

/** The log in a session's directory. */
export function logPath(directory: string): string {
  return join(directory, 'events.jsonl')
}

/** Where sessions are kept for those who are not told by an option: as event-store's `--dir` stands in its environment and in the config file. */
export function sessionsDirectory(): string {
  const { dir } = readConfig('event-store')
  return stateDirectory(process.env.AGENTPIPE_EVENT_STORE_DIR || (typeof dir === 'string' ? dir : undefined))
}

/**
 * Where tool-runner keeps what was in files before it changed them, for agentpipe to put it back: in the directory of a session of the project that `cwd` is,
 * the current directory if it is not an absolute path.
 */
export function keptFilesDirectory(session: string, cwd: string | undefined): string {
  return join(projectDirectory(sessionsDirectory(), cwd?.startsWith('/') ? cwd : workingDirectory()), session, 'before')
}

/** Makes a directory and those above it, the user's alone. Throws what the system says. */
export function makeDirectory(directory: string): void {
  // Not mkdir's own `recursive`: Node 20 never comes back from it where a file system says ENOENT for what can't be made, as /proc does.
  if (existsSync(directory)) return
  if (dirname(directory) !== directory) makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Makes the names of a new session last: its directory, and those above it that may be new too. */
export function syncDirectories(directory: string): void {
  for (const path of [directory, dirname(directory), dirname(dirname(directory))]) {
    try {
      const descriptor = openSync(path, 'r')
      fsyncSync(descriptor)
      closeSync(descriptor)
    } catch {
      // Some file systems don't sync directories; the log itself is synced, and failure there is an error.
    }
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
