import { closeSync, fchmodSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Bytes of the file past which the older ones are left out, and how many entries stay. */
const LARGEST = 1024 * 1024
const KEPT = 1000
/** Bytes of an entry at most: what is longer was pasted. */
const LONGEST = 16 * 1024

/**
 * What was typed, in this session and before: a line of JSON each, in a file that only the user can read. What can't be read or written is not there;
 * nothing depends on it.
 */
export class History {
  readonly #path: string
  #entries: string[] | undefined

  constructor(path: string = historyPath()) {
    this.#path = path
  }

  /** The oldest first. */
  get entries(): readonly string[] {
    this.#entries ??= this.#read()
    return this.#entries
  }

  /** Keeps a text, unless it is the last one again, or begins with a blank: that is how a shell is told not to. */
  add(text: string): void {
    if (text.startsWith(' ') || Buffer.byteLength(text) > LONGEST || text === this.entries.at(-1)) return
    this.#entries?.push(text)
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      const descriptor = openSync(this.#path, 'a', 0o600)
      try {
        fchmodSync(descriptor, 0o600)
        writeSync(descriptor, `${JSON.stringify(text)}\n`)
      } finally {
        closeSync(descriptor)
      }
    } catch {
      // A disk that is full, a home that is none.
    }
  }

  #read(): string[] {
    try {
      const bytes = readFileSync(this.#path)
      const entries = bytes.toString().split('\n').flatMap(entryOf).slice(-KEPT)
      if (bytes.length > LARGEST) this.#rewrite(entries)
      return entries
    } catch {
      return []
    }
  }

  #rewrite(entries: readonly string[]): void {
    writeFileSync(`${this.#path}.new`, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
    renameSync(`${this.#path}.new`, this.#path)
  }
}

function historyPath(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'agentpipe', 'prompt-history.jsonl')
}

function entryOf(line: string): string[] {
  try {
    const text: unknown = JSON.parse(line)
    return typeof text === 'string' ? [text] : []
  } catch {
    return []
  }
}
