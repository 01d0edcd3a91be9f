import { isUtf8 } from 'node:buffer'

/** The bytes as valid UTF-8: as they are, or with what is not UTF-8 replaced by U+FFFD. */
export function asText(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString())
}

/** How many bytes at the end of `bytes` are the beginning of a character that is not whole: 0 to 3. */
export function unfinishedAtEnd(bytes: Uint8Array): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] as number
    if (!isContinuation(byte)) return lengthByLead(byte) > count ? count : 0
  }
  return 0
}

/** How many bytes at the start of `bytes` are the end of a character that began before: 0 to 3. */
export function unfinishedAtStart(bytes: Uint8Array): number {
  let count = 0
  while (count < 3 && count < bytes.length && isContinuation(bytes[count] as number)) count++
  return count
}

/** Hands on bytes so that no chunk ends inside a character; the bytes stay the same, UTF-8 or not. */
export class WholeCharacters {
  readonly #sink: (chunk: Buffer) => void
  #head = Buffer.alloc(0)

  constructor(sink: (chunk: Buffer) => void) {
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    let rest = chunk
    if (this.#head.length > 0) {
      const missing = lengthByLead(this.#head[0] as number) - this.#head.length
      let taken = 0
      while (taken < missing && taken < rest.length && isContinuation(rest[taken] as number)) taken++
      this.#head = Buffer.concat([this.#head, rest.subarray(0, taken)])
      if (taken < missing && taken === rest.length) return
      this.end()
      rest = rest.subarray(taken)
    }
    const cut = rest.length - unfinishedAtEnd(rest)
    if (cut > 0) this.#sink(rest.subarray(0, cut))
    this.#head = Buffer.from(rest.subarray(cut))
  }

  /** Nothing more comes: what is held is handed on as it is. */
  end(): void {
    if (this.#head.length > 0) this.#sink(this.#head)
    this.#head = Buffer.alloc(0)
  }
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Bytes of the character that begins with `byte`; 1 for what begins none. */
function lengthByLead(byte: number): number {
  if (byte >= 0xf0 && byte <= 0xf4) return 4
  if (byte >= 0xe0) return byte <= 0xef ? 3 : 1
  return byte >= 0xc2 && byte <= 0xdf ? 2 : 1
}
