import { writeAll } from './write-all.js'

const BLOCK_BYTES = 64 * 1024
const SMALL_BYTES = 16 * 1024

/** Writes to a descriptor in few and large writes, in memory that stays the same: what is given is copied or written at once, so it may change afterwards. */
export class BlockWriter {
  readonly #descriptor: number
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  #held = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Bytes that are not written yet. */
  get held(): number {
    return this.#held
  }

  /** Waits where the descriptor takes no more. Throws what the system says. */
  write(bytes: Buffer): void {
    if (bytes.length > this.#block.length - this.#held) this.flush()
    if (bytes.length > SMALL_BYTES) {
      this.flush()
      writeAll(this.#descriptor, bytes)
    } else this.#held += bytes.copy(this.#block, this.#held)
  }

  /** Throws what the system says. */
  flush(): void {
    const held = this.#block.subarray(0, this.#held)
    this.#held = 0
    writeAll(this.#descriptor, held)
  }
}
