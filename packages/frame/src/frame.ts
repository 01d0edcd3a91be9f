const CR = 0x0d
const ZERO = 0x30

/**
 * One whole, well-formed frame inside a larger buffer: bytes `start` to `end` of `source`.
 *
 * Nothing is decoded or copied until it is asked for. What `bytes` and `field` return are views: they stay valid, but
 * keep the whole of `source` in memory; who keeps a frame for longer than its batch takes `copy()`.
 */
export class Frame {
  #type: string | undefined
  #starts: number[] | undefined

  constructor(
    readonly source: Buffer,
    readonly start: number,
    readonly end: number,
    /** Byte offset of the frame in its stream, counted from 0. */
    readonly offset: number,
  ) {}

  /** The frame as it came, a view. */
  get bytes(): Buffer {
    return this.source.subarray(this.start, this.end)
  }

  /** Field 0: `[A-Z][A-Z0-9_]*`, checked by the decoder. */
  get type(): string {
    this.#type ??= this.#readType()
    return this.#type
  }

  /** Number of fields, the type among them: at least 1. */
  get count(): number {
    return this.#fieldStarts().length / 2
  }

  /** The bytes of field `index` (0 is the type), a view; undefined past the last. */
  field(index: number): Buffer | undefined {
    const starts = this.#fieldStarts()
    const start = starts[index * 2]
    return start === undefined ? undefined : this.source.subarray(start, starts[index * 2 + 1])
  }

  /** Field `index` decoded as UTF-8, wrong bytes as U+FFFD; undefined past the last. */
  text(index: number): string | undefined {
    const starts = this.#fieldStarts()
    const start = starts[index * 2]
    return start === undefined ? undefined : this.source.toString('utf8', start, starts[index * 2 + 1])
  }

  /** All fields, the type first: views. */
  fields(): Buffer[] {
    return Array.from({ length: this.count }, (_, index) => this.field(index) as Buffer)
  }

  /** The same frame in memory of its own. */
  copy(): Frame {
    const bytes = Buffer.from(this.bytes)
    return new Frame(bytes, 0, bytes.length, this.offset)
  }

  #readType(): string {
    const count = readHeader(this.source, this.start)
    const length = readHeader(this.source, count.end)
    return this.source.toString('latin1', length.end, length.end + length.value)
  }

  /** Start and end of each field, found by walking the headers, which the decoder has checked. */
  #fieldStarts(): number[] {
    if (this.#starts !== undefined) return this.#starts
    const starts: number[] = []
    let at = readHeader(this.source, this.start).end
    while (at < this.end) {
      const { value, end } = readHeader(this.source, at)
      starts.push(end, end + value)
      at = end + value + 2
    }
    this.#starts = starts
    return starts
  }
}

/** The number of a header line (`*3\r\n`, `$5\r\n`) that is known to be well-formed, and where the line ends. */
function readHeader(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0
  let at = start + 1
  for (let byte = bytes[at] as number; byte !== CR; byte = bytes[++at] as number) value = value * 10 + byte - ZERO
  return { value, end: at + 2 }
}
