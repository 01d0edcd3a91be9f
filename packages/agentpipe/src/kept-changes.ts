import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EXIT, keptFilesDirectory, systemError } from '@agentpipe/stage'

/** What a turn has done to one file. */
export interface Change {
  readonly path: string
  /** Of the file before; undefined where there was none. */
  readonly mode: number | undefined
  /** What was in it before; undefined where there was none, or where it was too large to be kept. */
  readonly bytes: Buffer | undefined
  readonly tooLarge: boolean
  /** SHA-256 of what was last written to it. */
  readonly after: string
  /** Files that record it. */
  readonly records: readonly string[]
}

interface Entry {
  readonly name: string
  readonly turn: string
  readonly path: string
  readonly mode?: number
  readonly before: 'absent' | 'bytes' | 'too large'
  readonly after: string
}

/** The directory of the session of a project that was last to change a file, `cwd` being where the agent worked; undefined where there is none. */
export function latestKept(cwd: string | undefined): string | undefined {
  // Any id: it stands two levels above.
  const kept = keptFilesDirectory('x', cwd)
  const project = dirname(dirname(kept))
  const directories = namesIn(project).map((session) => join(project, session, basename(kept)))
  return directories
    .map((directory) => ({ directory, turn: lastTurn(entriesIn(directory)) }))
    .filter(({ turn }) => turn !== '')
    .sort((a, b) => (a.turn < b.turn ? 1 : -1))[0]?.directory
}

/** What the last turn that is not yet taken back has done: each file once. */
export function changesOfLastTurn(directory: string): Change[] {
  const entries = entriesIn(directory)
  const turn = lastTurn(entries)
  const byPath = new Map<string, Entry[]>()
  for (const entry of entries) if (entry.turn === turn) byPath.set(entry.path, [...(byPath.get(entry.path) ?? []), entry])
  return [...byPath.values()].map((list) => {
    const [first, last] = [list[0] as Entry, list.at(-1) as Entry]
    return {
      path: first.path,
      mode: first.before === 'absent' ? undefined : first.mode,
      bytes: first.before === 'bytes' ? read(join(directory, `${first.name}.bytes`)) : undefined,
      tooLarge: first.before === 'too large',
      after: last.after,
      records: list.map(({ name }) => name),
    }
  })
}

/** They are not found again: the next time it is the turn before. Throws StageError (74). */
export function markDone(directory: string, changes: readonly Change[]): void {
  try {
    for (const name of changes.flatMap(({ records }) => records)) renameSync(join(directory, `${name}.json`), join(directory, `${name}.done`))
  } catch (error) {
    throw systemError(EXIT.IO, `cannot write ${directory}`, error)
  }
}

function lastTurn(entries: readonly Entry[]): string {
  return (
    entries
      .map(({ turn }) => turn)
      .sort()
      .at(-1) ?? ''
  )
}

function entriesIn(directory: string): Entry[] {
  return namesIn(directory)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .flatMap((name) => {
      try {
        const entry = JSON.parse(read(join(directory, name)).toString())
        return typeof entry.turn === 'string' && typeof entry.path === 'string' && typeof entry.after === 'string'
          ? [{ ...entry, name: name.slice(0, -5) }]
          : []
      } catch {
        return []
      }
    })
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
}

function namesIn(directory: string): string[] {
  try {
    return statSync(directory).isDirectory() ? readdirSync(directory) : []
  } catch {
    return []
  }
}
