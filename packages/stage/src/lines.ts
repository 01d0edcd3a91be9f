const LF = 0x0a

/**
 * Cuts chunks into lines. A line that is longer than `longest` bytes is given in pieces of that length, `ended` being false for all but the last: no more than that is held.
 */
export class Lines {
  readonly #longest: number
  readonly #each: (line: Buffer, ended: boolean) => void
  #pieces: Buffer[] = []
  #length = 0

  constructor(longest: number, each: (line: Buffer, ended: boolean) => void) {
    this.#longest = longest
    this.#each = each
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, end))
      this.#give(true)
      start = end + 1
    }
    this.#add(chunk.subarray(start))
  }

  /** The last line need not end in LF. */
  end(): void {
    if (this.#length > 0) this.#give(true)
  }

  #add(piece: Buffer): void {
    for (let more = piece; more.length > 0; ) {
      if (this.#length === this.#longest) this.#give(false)
      const part = more.subarray(0, this.#longest - this.#length)
      this.#pieces.push(part)
      this.#length += part.length
      more = more.subarray(part.length)
    }
  }

  #give(ended: boolean): void {
    const line = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#length = 0
    this.#each(line, ended)
  }
}
