import { closeSync, fsyncSync, openSync, readSync, rmSync } from 'node:fs'
import { BlockWriter } from '@agentpipe/stage'

const SLICE_BYTES = 64 * 1024

/** A new file beside a log, the user's alone: written from its beginning, safe on disk when it is finished, or not there at all. */
export class SideFile {
  readonly #descriptor: number
  readonly #blocks: BlockWriter

  /** Throws what the system says; also where there is such a file. */
  constructor(readonly path: string) {
    this.#descriptor = openSync(path, 'wx', 0o600)
    this.#blocks = new BlockWriter(this.#descriptor)
  }

  /** Throws what the system says. */
  write(bytes: Buffer): void {
    this.#blocks.write(bytes)
  }

  /** Appends the bytes `start` to `end` of another file. Throws what the system says. */
  copy(from: number, start: number, end: number): void {
    const slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    for (let at = start; at < end; ) {
      const count = readSync(from, slice, 0, Math.min(slice.length, end - at), at)
      if (count === 0) break
      this.#blocks.write(slice.subarray(0, count))
      at += count
    }
  }

  /** Waits until everything is on disk. Throws what the system says. */
  finish(): void {
    this.#blocks.flush()
    fsyncSync(this.#descriptor)
    closeSync(this.#descriptor)
  }

  /** Takes the file away. */
  discard(): void {
    rmSync(this.path, { force: true })
  }
}

/** The name of a file beside a log: what it is, and when it was made. */
export function sidePath(log: string, what: string): string {
  return `${log}.${what}-${new Date().toISOString().replace(/[-:]/g, '')}`
}
