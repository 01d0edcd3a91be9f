import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'

const BUFFER_BYTES = 256 * 1024
const SLICE_BYTES = 64 * 1024

/** A new file beside a log, the user's alone: written from its beginning, safe on disk when it is finished, or not there at all. */
export class SideFile {
  readonly #descriptor: number
  #pieces: Buffer[] = []
  #held = 0

  /** Throws what the system says; also where there is such a file. */
  constructor(readonly path: string) {
    this.#descriptor = openSync(path, 'wx', 0o600)
  }

  /** Throws what the system says. */
  write(bytes: Buffer): void {
    this.#pieces.push(Buffer.from(bytes))
    this.#held += bytes.length
    if (this.#held >= BUFFER_BYTES) this.#flush()
  }

  /** Appends the bytes `start` to `end` of another file. Throws what the system says. */
  copy(from: number, start: number, end: number): void {
    this.#flush()
    const slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    for (let at = start; at < end; ) {
      const count = readSync(from, slice, 0, Math.min(slice.length, end - at), at)
      if (count === 0) break
      this.#put(slice.subarray(0, count))
      at += count
    }
  }

  /** Waits until everything is on disk. Throws what the system says. */
  finish(): void {
    this.#flush()
    fsyncSync(this.#descriptor)
    closeSync(this.#descriptor)
  }

  /** Takes the file away. */
  discard(): void {
    rmSync(this.path, { force: true })
  }

  #flush(): void {
    const bytes = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#held = 0
    this.#put(bytes)
  }

  #put(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at)
  }
}

/** The name of a file beside a log: what it is, and when it was made. */
export function sidePath(log: string, what: string): string {
  return `${log}.${what}-${new Date().toISOString().replace(/[-:]/g, '')}`
}
