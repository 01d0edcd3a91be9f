import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, openSync, readFileSync, realpathSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnose, EXIT, lockDirectory, makeDirectory, reason, StageError, stateDirectory, systemError } from '@agentpipe/stage'

/** Times that the lock is tried for while others let go of it. */
const TRIES = 20

/**
 * What has been done of a file, in FILE.done beside it: a line of JSON for each item that went well. An item that stands there is not done again, whatever
 * else has changed in the file since; who removes the file begins anew.
 */
export class BatchRecord {
  readonly path: string
  failed = false
  readonly #done: ReadonlySet<string>

  /**
   * From here to the end of the process it is the only one that works on `file`. Throws StageError: 75 where another does, 65 for a record that is none of ours,
   * 66 for one that can't be read, 73 where it could not be written.
   */
  constructor(file: string) {
    lock(file)
    this.path = `${file}.done`
    this.#done = new Set(readKeys(this.path))
    try {
      closeSync(openSync(this.path, 'a', 0o600))
    } catch (error) {
      throw systemError(EXIT.CANNOT_CREATE, `cannot write ${this.path}`, error)
    }
  }

  has(key: string): boolean {
    return this.#done.has(key)
  }

  /** What can't be noted is said once: it would be done again. */
  add(key: string, session: string, diagnose: Diagnose): void {
    try {
      appendFileSync(this.path, `${JSON.stringify({ key, session, ended: new Date().toISOString() })}\n`)
    } catch (error) {
      if (!this.failed) diagnose(`cannot write ${this.path}: ${reason(error)}: what is done now would be done again`)
      this.failed = true
    }
  }
}

/** Two that do the same at the same time would do all of it twice. */
function lock(file: string): void {
  const directory = join(stateDirectory(undefined), 'batches', createHash('sha256').update(realpathSync(file)).digest('hex').slice(0, 16))
  const release = locked(directory, (holder) => `${file} is being done by ${holder}: wait for it to end`)
  process.on('exit', () => {
    release()
    try {
      rmdirSync(directory)
    } catch {
      // Another one tries to get it.
    }
  })
}

function locked(directory: string, busy: (holder: string) => string): () => void {
  for (let tries = 1; ; tries++) {
    try {
      makeDirectory(directory)
      return lockDirectory(directory, busy)
    } catch (error) {
      if (error instanceof StageError) throw error
      // Who has just ended takes the directory away.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && tries < TRIES) continue
      throw systemError(EXIT.CANNOT_CREATE, `cannot write ${directory}`, error)
    }
  }
}

function readKeys(path: string): string[] {
  let text: string
  try {
    // A device or a FIFO may never end.
    if (!statSync(path).isFile()) throw new StageError(EXIT.DATA, `${path} is not a regular file: move it away`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof StageError) throw error
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
