import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'

/** Past this many bytes that the disk has not taken, who writes should wait. */
const QUEUE_BYTES = 1024 * 1024
/** A command that prints for ever must not fill the disk. */
const LARGEST_BYTES = 2 * 1024 ** 3

/** A private file (0600) that takes the whole of an output, up to 2 GiB. */
export class SpillFile {
  readonly path: string
  readonly #stream: WriteStream
  #bytes = 0
  #failed = false
  #drain: Promise<void> | undefined

  constructor(path: string) {
    this.path = path
    this.#stream = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: QUEUE_BYTES })
    this.#stream.on('error', () => {
      this.#failed = true
    })
  }

  /** Whether it has everything that was written. */
  get whole(): boolean {
    return !this.#failed && this.#bytes <= LARGEST_BYTES
  }

  write(chunk: Buffer): void {
    const room = LARGEST_BYTES - this.#bytes
    this.#bytes += chunk.length
    if (room > 0 && !this.#failed) this.#stream.write(chunk.subarray(0, room))
  }

  /** A promise while the disk is behind. */
  get behind(): Promise<void> | undefined {
    if (!this.#stream.writableNeedDrain || this.#failed) return undefined
    this.#drain ??= this.#untilDrained()
    return this.#drain
  }

  /** Resolves when everything is in the file, or can't be. */
  async close(): Promise<void> {
    if (this.#failed) return
    await new Promise<void>((resolve) => {
      this.#stream.once('error', () => resolve())
      this.#stream.end(() => resolve())
    })
  }

  async remove(): Promise<void> {
    await this.close()
    await unlink(this.path).catch(() => {})
  }

  async #untilDrained(): Promise<void> {
    await once(this.#stream, 'drain').catch(() => {})
    this.#drain = undefined
  }
}
