import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { endLastLine } from './last-line.js'
import { lastRecord } from './log-reader.js'

const LF = 0x0a

/** Lines could not all be written. `written`: those that are whole in the log. */
export class AppendError extends Error {
  override readonly name = 'AppendError'

  constructor(
    override readonly cause: unknown,
    readonly written: Buffer,
  ) {
    super('cannot append')
  }
}

/** The end of one log. The caller holds the session's lock. */
export class LogWriter {
  readonly #descriptor: number
  readonly #isFile: boolean
  /** Number of the last record in the log. */
  readonly lastSeq: number
  /** Where a torn last line was moved to. */
  readonly aside: string | undefined

  /** Opens a log, new or not, and sees to its last line. Throws what the system says. */
  constructor(readonly path: string) {
    this.#descriptor = openSync(path, 'a+', 0o600)
    this.#isFile = fstatSync(this.#descriptor).isFile()
    this.aside = this.#isFile ? endLastLine(this.#descriptor, path) : undefined
    this.lastSeq = (this.#isFile ? lastRecord(this.#descriptor)?.seq : undefined) ?? 0
  }

  /**
   * Appends whole lines, with one write where the system takes them at once. Where they don't all fit, what is written of
   * the first that doesn't is taken back, and AppendError tells which ones are there.
   */
  append(lines: Buffer): void {
    let at = 0
    try {
      while (at < lines.length) at += writeSync(this.#descriptor, lines, at)
    } catch (error) {
      throw new AppendError(error, this.#wholeLines(lines.subarray(0, at)))
    }
    this.#checkThere()
  }

  /** Appends one line that comes in pieces: all of it, or with AppendError nothing. */
  appendPieces(pieces: Iterable<Buffer>): void {
    let written = 0
    try {
      for (const piece of pieces) for (let at = 0, count = 0; at < piece.length; at += count, written += count) count = writeSync(this.#descriptor, piece, at)
    } catch (error) {
      this.#takeBack(written)
      throw new AppendError(error, Buffer.alloc(0))
    }
    this.#checkThere()
  }

  /** Waits until what was appended is on disk. Throws AppendError if it can't be. */
  sync(): void {
    if (!this.#isFile) return
    try {
      fdatasyncSync(this.#descriptor)
    } catch (error) {
      throw new AppendError(error, Buffer.alloc(0))
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** A log that was removed takes every write without complaint. */
  #checkThere(): void {
    if (fstatSync(this.#descriptor).nlink === 0) throw new AppendError(new Error('the file was removed'), Buffer.alloc(0))
  }

  #wholeLines(written: Buffer): Buffer {
    const whole = written.subarray(0, written.lastIndexOf(LF) + 1)
    this.#takeBack(written.length - whole.length)
    return whole
  }

  #takeBack(torn: number): void {
    if (torn === 0 || !this.#isFile) return
    try {
      ftruncateSync(this.#descriptor, fstatSync(this.#descriptor).size - torn)
    } catch {
      // The next open for writing sets the torn line aside.
    }
  }
}
