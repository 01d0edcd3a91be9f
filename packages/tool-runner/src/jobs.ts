import { open, unlink } from 'node:fs/promises'
import type { CommandEnd } from './command.js'
import { ToolError } from './tool-error.js'

/** A command that runs in the background, or has run there. */
export class Job {
  end: CommandEnd | undefined
  /** Bytes of its output that the model has seen. */
  #seen = 0
  /** A result names the file of its output. */
  #named = false

  constructor(
    readonly id: string,
    readonly command: string,
    /** Where its output goes. */
    readonly path: string,
    readonly started: number,
    readonly ended: Promise<CommandEnd>,
    readonly kill: () => void,
  ) {
    void ended.then((end) => {
      this.end = end
    })
  }

  /** What it has printed since the last time: the last `limit` bytes of that, and how many are left out before them. */
  async newOutput(limit: number): Promise<{ readonly bytes: Buffer; readonly leftOut: number }> {
    const file = await open(this.path)
    try {
      const { size } = await file.stat()
      const start = Math.max(this.#seen, size - limit)
      const bytes = Buffer.alloc(Math.max(0, size - start))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
      const leftOut = start - this.#seen
      if (leftOut > 0) this.#named = true
      this.#seen = start + bytesRead
      return { bytes: bytes.subarray(0, bytesRead), leftOut }
    } finally {
      await file.close()
    }
  }

  /** Removes the file of its output, unless a result says that more can be found there. */
  async leave(): Promise<void> {
    if (!this.#named) await unlink(this.path).catch(() => {})
  }
}

/** The background jobs of a session, in the order in which they were started. */
export class Jobs {
  readonly #jobs = new Map<string, Job>()

  add(command: string, path: string, ended: Promise<CommandEnd>, kill: () => void): Job {
    const job = new Job(`j${this.#jobs.size + 1}`, command, path, Date.now(), ended, kill)
    this.#jobs.set(job.id, job)
    return job
  }

  get all(): readonly Job[] {
    return [...this.#jobs.values()]
  }

  async leave(): Promise<void> {
    await Promise.all(this.all.map((job) => job.leave()))
  }

  /** Throws ToolError, which names those that there are. */
  get(id: string | undefined): Job {
    const job = this.#jobs.get(id ?? '')
    if (job !== undefined) return job
    const there = this.#jobs.size === 0 ? 'there are none: Bash with background starts one' : `there are ${[...this.#jobs.keys()].join(', ')}`
    throw new ToolError(id === undefined ? `job is missing: ${there}` : `there is no job ${JSON.stringify(id)}: ${there}`)
  }
}
