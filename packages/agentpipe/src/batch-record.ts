import { appendFileSync, readFileSync } from 'node:fs'
import { EXIT, StageError, systemError } from '@agentpipe/stage'

/**
 * What has been done of a file, in FILE.done beside it: a line of JSON for each item that went well. An item that stands there is not done again, whatever
 * else has changed in the file since; who removes the file begins anew.
 */
export class BatchRecord {
  readonly path: string
  readonly #done: ReadonlySet<string>

  /** Throws StageError (65) for a file that is none of ours, (66) for one that can't be read. */
  constructor(file: string) {
    this.path = `${file}.done`
    this.#done = new Set(readKeys(this.path))
  }

  has(key: string): boolean {
    return this.#done.has(key)
  }

  /** Throws StageError (74). */
  add(key: string, session: string): void {
    try {
      appendFileSync(this.path, `${JSON.stringify({ key, session, ended: new Date().toISOString() })}\n`, { mode: 0o600 })
    } catch (error) {
      throw systemError(EXIT.IO, `cannot write ${this.path}`, error)
    }
  }
}

function readKeys(path: string): string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
  const lines = text.split('\n')
  // A torn last line: that item is done once more.
  lines.pop()
  return lines.map((line, index) => keyIn(line) ?? refuse(path, index + 1))
}

function keyIn(line: string): string | undefined {
  try {
    const { key } = JSON.parse(line)
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}

function refuse(path: string, line: number): never {
  throw new StageError(EXIT.DATA, `${path}: line ${line} is not a record of agentpipe batch: move that file away`)
}
