import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isSessionId } from '@agentpipe/message'
import { type Diagnose, EXIT, logPath, projectDirectory, projectsDirectory, StageError, systemError, usage, workingDirectory } from '@agentpipe/stage'
import { inLog, lastRecord } from './log-reader.js'
import { LATEST } from './session-id.js'

/** A clock may be a little ahead of ours; an event from further in the future was recorded by one that was wrong. */
const AHEAD_MS = 5 * 60 * 1000

/** Sessions that a message names at most. */
const NAMED = 4

/** A session that has a log. */
export interface Session {
  readonly id: string
  /** Name of its project's directory. */
  readonly project: string
  /** Path of its log. */
  readonly log: string
}

/** The sessions in a project's directory, none where there is no such directory. */
export function sessionsIn(project: string): Session[] {
  return namesIn(project)
    .filter(isSessionId)
    .map((id) => ({ id, project: basename(project), log: logPath(join(project, id)) }))
    .filter(({ log }) => isThere(log))
}

/** The sessions of all projects. One that can't be read is told of, and the others are used. */
export function allSessions(state: string, diagnose: Diagnose): Session[] {
  const projects = projectsDirectory(state)
  return namesIn(projects).flatMap((name) => {
    try {
      return sessionsIn(join(projects, name))
    } catch (error) {
      if (!(error instanceof StageError)) throw error
      diagnose(error.message)
      return []
    }
  })
}

/** Also where we may not look: who reads it says so. */
function isThere(log: string): boolean {
  try {
    return statSync(log, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

/**
 * The session that a user means by `given`: an id or the beginning of one, of the current directory's project or else of any, or
 * `latest` in this project. An exact id goes before a longer one. Throws StageError: 66 where there is none, 64 where there are several.
 */
export function findSession(state: string, given: string, diagnose: Diagnose): Session {
  const here = sessionsIn(projectDirectory(state, workingDirectory()))
  if (given === LATEST) return latestOf(here) ?? missing('there is no session of this directory yet')
  const matchesHere = matchesIn(here, given)
  const matches = matchesHere.length > 0 ? matchesHere : matchesIn(allSessions(state, diagnose), given)
  if (matches.length > 1) throw usage(`${JSON.stringify(given)} may be ${choice(matches)}`)
  return matches[0] ?? missing(`there is no session ${JSON.stringify(given)}`)
}

function matchesIn(sessions: readonly Session[], given: string): readonly Session[] {
  const exact = sessions.filter(({ id }) => id === given)
  return exact.length > 0 ? exact : sessions.filter(({ id }) => given !== '' && id.startsWith(given))
}

/** The first few sessions, by id and project, and how many more there are. */
function choice(sessions: readonly Session[]): string {
  const names = sessions.slice(0, NAMED).map(({ id, project }) => `${id} (${project})`)
  const more = sessions.length - names.length
  return more === 0 ? names.join(' or ') : `${names.join(', ')} and ${more} more`
}

/** The session of the current directory that has exactly this id, if there is one. */
export function exactSession(state: string, id: string): Session | undefined {
  return sessionsIn(projectDirectory(state, workingDirectory())).find((session) => session.id === id)
}

/** The session with the latest event, by the time that was recorded with it: a file's own time changes when it is copied or touched. */
export function latestOf(sessions: readonly Session[]): Session | undefined {
  return timed(sessions).find(({ lastEvent }) => lastEvent !== undefined)?.session
}

/** The sessions in that order, those without events last. */
export function byLatestEvent(sessions: readonly Session[]): Session[] {
  return timed(sessions).map(({ session }) => session)
}

function timed(sessions: readonly Session[]) {
  return sessions.map((session) => ({ session, lastEvent: lastEventOf(session) })).sort(latestFirst)
}

/** When the last event of a session was recorded, as its record says; undefined where there is none, or the log can't be read. */
export function lastEventOf({ log }: Session): string | undefined {
  try {
    return inLog(log, lastRecord)?.time
  } catch {
    return undefined
  }
}

/** Order of sessions: latest event first; behind them those from a clock that was ahead, then those without events. */
export function latestFirst(a: { readonly lastEvent: string | undefined }, b: { readonly lastEvent: string | undefined }): number {
  return rank(b.lastEvent) - rank(a.lastEvent)
}

function rank(time: string | undefined): number {
  if (time === undefined) return -2
  const milliseconds = Date.parse(time)
  return milliseconds > Date.now() + AHEAD_MS ? -1 : milliseconds
}

function missing(what: string): never {
  throw new StageError(EXIT.NO_INPUT, `${what}: see event-store list, or list --all for other directories`)
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A stray file is no directory of sessions; a file where a directory above should be is a mistake.
    if (code === 'ENOENT' || (code === 'ENOTDIR' && existsSync(directory))) return []
    throw systemError(EXIT.NO_INPUT, `cannot read ${directory}`, error)
  }
}
