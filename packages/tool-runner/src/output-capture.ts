import { CarriageReturns } from './carriage-returns.js'
import { HeadAndTail } from './head-and-tail.js'
import { SpillFile } from './spill-file.js'
import { asText } from './utf8.js'

/** What stands between head and tail is shorter. */
const LONGEST_MARK = 8 * 1024

/** An output as the model gets it, and where the whole of it is, if that is not all. */
export interface Captured {
  /** Valid UTF-8. */
  readonly text: Buffer
  readonly fullOutput: string | undefined
}

/**
 * What a command prints, in memory of about twice `limit` bytes however much it is: head and tail of it as a terminal would show it, and, once it is more than
 * `limit`, every byte in a file.
 */
export class OutputCapture {
  readonly #limit: number
  readonly #spillPath: () => Promise<string>
  readonly #shown: HeadAndTail
  readonly #terminal: CarriageReturns
  /** Everything so far, while that is little. */
  #raw: Buffer[] = []
  #bytes = 0
  /** Where the whole of it goes; null where there is no place for it, and head and tail must do. */
  #spill: SpillFile | null | undefined
  #opening: Promise<void> | undefined

  /** `spillPath` gives the path of a file that is to be made; it is called when the output is longer than `limit` bytes. */
  constructor(limit: number, spillPath: () => Promise<string>) {
    this.#limit = limit
    this.#spillPath = spillPath
    this.#shown = new HeadAndTail(limit)
    this.#terminal = new CarriageReturns((chunk) => this.#shown.write(chunk))
  }

  /** Takes the next bytes and keeps the buffer. Gives a promise when it would rather wait before it gets more. */
  write(chunk: Buffer): Promise<void> | undefined {
    this.#terminal.push(chunk)
    this.#bytes += chunk.length
    if (this.#spill !== undefined) {
      this.#spill?.write(chunk)
      return this.#spill?.behind
    }
    this.#raw.push(chunk)
    if (this.#bytes > this.#limit) this.#opening ??= this.#openSpill()
    return this.#opening
  }

  /** All of it, when nothing more comes. */
  async finish(): Promise<Captured> {
    await this.#opening
    this.#terminal.end()
    this.#raw = []
    if (this.#shown.leftOut === 0) {
      await this.#spill?.remove()
      return { text: this.#bounded(asText(this.#shown.text(() => ''))), fullOutput: undefined }
    }
    await this.#spill?.close()
    return { text: this.#bounded(asText(this.#shown.text((leftOut) => this.#mark(leftOut)))), fullOutput: this.#spill?.path }
  }

  /** U+FFFD takes three bytes: what is not text may have grown. */
  #bounded(text: Buffer): Buffer {
    if (text.length <= this.#limit + LONGEST_MARK) return text
    const again = new HeadAndTail(this.#limit)
    again.write(text)
    return again.text((leftOut) => this.#mark(leftOut))
  }

  async #openSpill(): Promise<void> {
    const path = await this.#spillPath().catch(() => undefined)
    this.#spill = path === undefined ? null : new SpillFile(path)
    for (const chunk of this.#raw) this.#spill?.write(chunk)
    this.#raw = []
  }

  #mark(leftOut: number): string {
    if (!this.#spill) return `[${leftOut} bytes left out]`
    return `[${leftOut} bytes left out; ${this.#spill.whole ? 'the whole output' : 'what there was room for'} is in ${this.#spill.path}]`
  }
}
