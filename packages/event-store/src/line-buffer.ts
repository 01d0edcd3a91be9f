const USUAL_BYTES = 256 * 1024
/** UTF-8 has no more bytes for a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3

/** Texts put together as bytes, in memory that is used again and again: what is recorded of a long stream leaves nothing behind to be collected. */
export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0

  put(text: string): void {
    const most = this.#length + text.length * MOST_BYTES_A_UNIT
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** All that was put since it was asked last; good until something is put again. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    // Room for something that was long once is not kept.
    if (this.#bytes.length > USUAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(USUAL_BYTES)
    return taken
  }
}
