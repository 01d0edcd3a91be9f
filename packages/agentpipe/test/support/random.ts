/** Random numbers that can be had again: a test says its seed, and SEED=N gives it. */
export class Random {
  #state: number

  constructor(t: { comment(text: string): void }) {
    this.#state = Number(process.env.SEED ?? Date.now() % 1_000_000)
    t.comment(`SEED=${this.#state}`)
  }

  /** A whole number from 0 on, less than `limit`: mulberry32. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}
