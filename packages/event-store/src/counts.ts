import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Session } from './sessions.js'
import type { Tokens } from './tokens.js'

/** Logs up to this size are counted again rather than remembered. */
const SMALL_BYTES = 8 * 1024

/** What was counted in the beginning of a log. */
export interface Counts {
  /** Where the first line begins that is not counted yet. */
  readonly bytes: number
  /** Tells the file, and what stands in front of that line: counts hold only while both are the same. */
  readonly mark: string
  readonly turns: number
  readonly tokens: Tokens
}

/**
 * What was counted of long logs, so that a listing reads only what was appended since: a file a project in the cache directory. It holds nothing that is not in
 * the logs, is checked against them, and made anew from them where it is lost, damaged or wrong.
 */
export class CountCache {
  readonly #projects = new Map<string, Record<string, Counts>>()
  readonly #changed = new Set<string>()

  /** What was counted of a session's log, if anything; to be checked by its mark. */
  of({ id, log }: Session): Counts | undefined {
    const counts = this.#counts(projectOf(log))
    return Object.hasOwn(counts, id) && isCounts(counts[id]) ? counts[id] : undefined
  }

  put({ id, log }: Session, counts: Counts): void {
    const project = projectOf(log)
    if (counts.bytes <= SMALL_BYTES) return
    this.#counts(project)[id] = counts
    this.#changed.add(project)
  }

  /** Remembers what was put, of the sessions that there are. Where that can't be written, a later listing counts again. */
  save(sessions: readonly Session[]): void {
    const logs = new Set(sessions.map(({ log }) => log))
    for (const project of this.#changed) {
      const path = cachePath(project)
      const temporary = `${path}.${process.pid}`
      const kept = Object.entries(this.#counts(project)).filter(([id]) => logs.has(join(project, id, 'events.jsonl')))
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(temporary, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600, flag: 'wx' })
        renameSync(temporary, path)
      } catch {
        discard(temporary)
      }
    }
  }

  #counts(project: string): Record<string, Counts> {
    const known = this.#projects.get(project)
    if (known !== undefined) return known
    const counts = readCounts(cachePath(project))
    this.#projects.set(project, counts)
    return counts
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It could not be made either.
  }
}

function projectOf(log: string): string {
  return dirname(dirname(log))
}

function cachePath(project: string): string {
  const xdg = process.env.XDG_CACHE_HOME
  const cache = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), '.cache')
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 16)
  return join(cache, 'agentpipe', 'counts', `${basename(project).slice(0, 80)}-${hash}.json`)
}

function readCounts(path: string): Record<string, Counts> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...(value as Record<string, Counts>) } : {}
  } catch {
    return {}
  }
}

function isCounts(value: unknown): value is Counts {
  const { bytes, mark, turns, tokens } = (value ?? {}) as Partial<Counts>
  const numbers = [bytes, turns, tokens?.input, tokens?.output, tokens?.cache_read, tokens?.cache_creation]
  return typeof mark === 'string' && numbers.every((number) => typeof number === 'number' && number >= 0 && Number.isSafeInteger(number))
}
