import { unfinishedAtEnd, unfinishedAtStart } from './utf8.js'

const FIRST_TAIL_BYTES = 4096

/** Keeps the first half and the last half of `limit` bytes, of any number that go through it. */
export class HeadAndTail {
  readonly #head: Buffer[] = []
  readonly #headLimit: number
  #headBytes = 0
  /** The last bytes behind the head, in a ring that grows to its final size as they come. */
  #tail = Buffer.alloc(0)
  readonly #tailLimit: number
  /** Bytes that have gone into the tail, those overwritten among them. */
  #tailBytes = 0

  constructor(limit: number) {
    this.#headLimit = Math.floor(limit / 2)
    this.#tailLimit = limit - this.#headLimit
  }

  /** Bytes that are in neither half. */
  get leftOut(): number {
    return Math.max(0, this.#tailBytes - this.#tailLimit)
  }

  write(chunk: Buffer): void {
    const forHead = Math.min(this.#headLimit - this.#headBytes, chunk.length)
    if (forHead > 0) {
      // A copy: a view of a few bytes would keep the whole chunk that was read.
      this.#head.push(Buffer.from(chunk.subarray(0, forHead)))
      this.#headBytes += forHead
    }
    if (forHead < chunk.length) this.#writeTail(chunk.subarray(forHead))
  }

  /**
   * Everything that was written; where something was left out, both halves, cut between characters, with a line between them
   * that `mark` makes from the number of bytes missing.
   */
  text(mark: (leftOut: number) => string): Buffer {
    const head = Buffer.concat(this.#head)
    const tail = this.#orderedTail()
    if (this.leftOut === 0) return Buffer.concat([head, tail])
    const whole = head.subarray(0, head.length - unfinishedAtEnd(head))
    const rest = tail.subarray(unfinishedAtStart(tail))
    const missing = this.leftOut + head.length - whole.length + tail.length - rest.length
    const newline = whole.length === 0 || whole[whole.length - 1] === 0x0a ? '' : '\n'
    return Buffer.concat([whole, Buffer.from(`${newline}${mark(missing)}\n`), rest])
  }

  #writeTail(chunk: Buffer): void {
    const last = chunk.subarray(Math.max(0, chunk.length - this.#tailLimit))
    this.#growTail(this.#tailBytes + chunk.length)
    const end = this.#tailBytes + chunk.length
    let at = (end - last.length) % this.#tail.length
    for (let rest = last; rest.length > 0; at = 0) {
      const count = rest.copy(this.#tail, at)
      rest = rest.subarray(count)
    }
    this.#tailBytes = end
  }

  #growTail(wanted: number): void {
    const size = Math.min(this.#tailLimit, Math.max(wanted, FIRST_TAIL_BYTES))
    if (size <= this.#tail.length) return
    // It is not full size yet, so nothing has been overwritten: it is in order.
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#tailLimit, Math.max(size, this.#tail.length * 2)))
    this.#tail.copy(larger, 0, 0, this.#tailBytes)
    this.#tail = larger
  }

  #orderedTail(): Buffer {
    if (this.leftOut === 0) return this.#tail.subarray(0, this.#tailBytes)
    const at = this.#tailBytes % this.#tail.length
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)])
  }
}
