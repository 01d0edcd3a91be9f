import { createHash } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionId } from '@agentpipe/message'
import { keptFilesDirectory, makeDirectory } from '@agentpipe/stage'

/** Bytes that are kept of one file, and of a session: past them the oldest go. */
const LARGEST_FILE = 16 * 1024 ** 2
const MOST_BYTES = 64 * 1024 ** 2
const MOST_ENTRIES = 2000

/**
 * What was in files before Write and Edit changed them, for `agentpipe undo`: in the session's directory, NUMBER.json says which file and how it is known that
 * nobody else has changed it since, NUMBER.bytes is what was in it. Only the user can read them. What can't be kept does not hinder a write.
 */
export class KeptFiles {
  #directory: string | undefined
  /** What was written in the same turn is taken back together. */
  #turn = ''
  #next = 1
  #entries: { readonly number: number; readonly bytes: number }[] | undefined

  /** The session is known. `cwd` is where its head works. */
  session(id: string, cwd: string | undefined): void {
    if (isSessionId(id)) this.#directory = keptFilesDirectory(id, cwd)
    this.turn()
  }

  /** A turn begins. */
  turn(): void {
    this.#turn = new Date().toISOString()
  }

  /** Keeps what is in a file, undefined where there is none, before `content` is written to it. */
  async before(path: string, bytes: Buffer | undefined, content: Buffer): Promise<void> {
    if (this.#directory === undefined) return
    try {
      const mode = bytes === undefined ? undefined : (await lstat(path)).mode & 0o7777
      this.#keep(this.#directory, { turn: this.#turn, path, mode, after: createHash('sha256').update(content).digest('hex') }, bytes)
    } catch {
      // A full disk, or no permission: then this change can't be taken back.
    }
  }

  #keep(directory: string, entry: { path: string; [name: string]: unknown }, bytes: Buffer | undefined): void {
    this.#entries ??= this.#open(directory)
    const number = this.#next++
    const name = join(directory, String(number).padStart(6, '0'))
    const kept = bytes !== undefined && bytes.length <= LARGEST_FILE
    if (kept) writeFileSync(`${name}.bytes`, bytes, { mode: 0o600, flag: 'wx' })
    const before = bytes === undefined ? 'absent' : kept ? 'bytes' : 'too large'
    writeFileSync(`${name}.json`, `${JSON.stringify({ ...entry, before })}\n`, { mode: 0o600, flag: 'wx' })
    this.#entries.push({ number, bytes: kept ? bytes.length : 0 })
    this.#prune(directory, this.#entries)
  }

  #open(directory: string): { number: number; bytes: number }[] {
    makeDirectory(directory)
    chmodSync(directory, 0o700)
    const names = readdirSync(directory)
    const numbers = [...new Set(names.map((name) => Number.parseInt(name, 10)))].filter(Number.isInteger).sort((a, b) => a - b)
    this.#next = (numbers.at(-1) ?? 0) + 1
    return numbers.map((number) => ({ number, bytes: sizeOf(`${join(directory, String(number).padStart(6, '0'))}.bytes`) }))
  }

  #prune(directory: string, entries: { number: number; bytes: number }[]): void {
    let sum = entries.reduce((total, { bytes }) => total + bytes, 0)
    while (entries.length > 1 && (sum > MOST_BYTES || entries.length > MOST_ENTRIES)) {
      const { number, bytes } = entries.shift() as { number: number; bytes: number }
      sum -= bytes
      for (const kind of ['bytes', 'json', 'done']) rmSync(`${join(directory, String(number).padStart(6, '0'))}.${kind}`, { force: true })
    }
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
