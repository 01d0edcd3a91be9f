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
    const [start, end] = this.#fieldStarts() as [number, number]
    if (!isAt(this.source, start, end, lastType)) lastType = this.source.toString('latin1', start, end)
    return lastType
  }

  /** Start and end of each field, found by walking the headers, which the decoder has checked. */
  #fieldStarts(): number[] {
    if (this.#starts !== undefined) return this.#starts
    const { source, end } = this
    const starts: number[] = []
    let at = lineEnd(source, this.start)
    while (at < end) {
      let length = 0
      let byte = source[++at] as number
      for (; byte !== CR; byte = source[++at] as number) length = length * 10 + byte - ZERO
      at += 2
      starts.push(at, at + length)
      at += length + 2
    }
    this.#starts = starts
    return starts
  }
}

/** Type of the frame that was last asked for it: the next one is mostly of the same, and decoding a string is dear. */
let lastType = ''

function isAt(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}

/** Behind a header line that is known to be well-formed. */
function lineEnd(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] !== CR) at++
  return at + 2
}
