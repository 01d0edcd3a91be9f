/** Characters that are kept of the beginning and of the end: what started it, and what it came to. */
const KEPT = 64 * 1024

/** Lines of text, the first and the last of them where there are too many to keep. */
export class KeptLines {
  readonly #first: string[] = []
  #room = KEPT
  #last: string[] = []
  #lastLength = 0
  #dropped = 0

  add(line: string): void {
    if (this.#room >= line.length) {
      this.#first.push(line)
      this.#room -= line.length + 1
      return
    }
    this.#room = 0
    this.#last.push(line)
    this.#lastLength += line.length + 1
    if (this.#lastLength > 2 * KEPT) this.#shorten()
  }

  /** The lines, and one that says how many are not there. */
  get lines(): string[] {
    return [...this.#first, ...(this.#dropped > 0 ? [`agentpipe: ${this.#dropped} lines are left out here`] : []), ...this.#last]
  }

  /** Half at a time: the time stays linear in the lines. */
  #shorten(): void {
    let from = 0
    while (this.#lastLength > KEPT) this.#lastLength -= (this.#last[from++] as string).length + 1
    this.#last = this.#last.slice(from)
    this.#dropped += from
  }
}
