import { statSync } from 'node:fs'
import { writeStderr } from '@agentpipe/stage'
import type { Session } from './sessions.js'

const FIRST_MS = 1000
const EACH_MS = 200
const ERASE = '\r\x1b[K'

/** How far the reading of logs has come, on a terminal, from the second that it takes on. `clear` before anything else is printed. */
export class Progress {
  readonly #total: number
  readonly #started = Date.now()
  #next = this.#started + FIRST_MS
  #done = 0
  #shown = false

  constructor(sessions: readonly Session[]) {
    this.#total = process.stderr.isTTY ? sessions.reduce((sum, { log }) => sum + (statSync(log, { throwIfNoEntry: false })?.size ?? 0), 0) : 0
  }

  /** So many more bytes have been read. */
  readonly read = (bytes: number): void => {
    this.#done += bytes
    if (this.#total === 0 || Date.now() < this.#next) return
    this.#next = Date.now() + EACH_MS
    this.#shown = true
    writeStderr(`${ERASE}reading: ${Math.min(99, Math.floor((this.#done / this.#total) * 100))} %`)
  }

  clear(): void {
    if (this.#shown) writeStderr(ERASE)
    this.#shown = false
  }
}
