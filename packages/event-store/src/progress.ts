import { statSync } from 'node:fs'
import { type Diagnose, descriptorKind, STDOUT, writeStderr } from '@agentpipe/stage'
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

  /** `shown`: false where something else may be drawn on the terminal meanwhile. */
  constructor(sessions: readonly Pick<Session, 'log'>[], shown = true) {
    this.#total = shown && process.stderr.isTTY ? sessions.reduce((sum, { log }) => sum + sizeOf(log), 0) : 0
  }

  /** A whole log is done with. */
  done({ log }: Pick<Session, 'log'>): void {
    if (this.#total > 0) this.read(sizeOf(log))
  }

  /** What says something on the line that is taken: it is cleared first. */
  readonly around =
    (diagnose: Diagnose): Diagnose =>
    (message) => {
      this.clear()
      diagnose(message)
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

/** What reads a log tells of it. */
export interface Watched {
  readonly read: (bytes: number) => void
  readonly diagnose: Diagnose
}

/** Does `work`, which prints what it reads of a log, and shows how far it has come where that goes to a file: the next stage of a pipeline may draw on the terminal. */
export async function withProgress<Result>(diagnose: Diagnose, log: string, work: (watched: Watched) => Result | Promise<Result>): Promise<Result> {
  const progress = new Progress([{ log }], descriptorKind(STDOUT) === 'file')
  try {
    return await work({ read: progress.read, diagnose: progress.around(diagnose) })
  } finally {
    progress.clear()
  }
}

function sizeOf(log: string): number {
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0
}
