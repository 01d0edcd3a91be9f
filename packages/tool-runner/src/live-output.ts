import { messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'
import { asText, unfinishedAtEnd } from './utf8.js'

export type Stream = 'stdout' | 'stderr'

/** What a command prints within this time becomes one frame. */
const COALESCE_MS = 25
const CHUNK_BYTES = 16 * 1024

/** What a running call prints, as TOOL_OUTPUT frames: as soon as it comes, but not one for each line, and no more of it than the result may hold. */
export class LiveOutput {
  readonly #output: Output
  readonly #id: string
  #left: number
  #pieces: Buffer[] = []
  #bytes = 0
  #stream: Stream = 'stdout'
  #timer: NodeJS.Timeout | undefined

  constructor(output: Output, id: string, limit: number) {
    this.#output = output
    this.#id = id
    this.#left = limit
  }

  /** Takes whole characters; keeps the buffer until it has been sent. Gives a promise while the reader of the frames is behind. */
  write(chunk: Buffer, stream: Stream): Promise<void> | undefined {
    if (this.#left === 0) return undefined
    if (stream !== this.#stream) this.flush()
    this.#stream = stream
    const piece = chunk.length <= this.#left ? chunk : upTo(chunk, this.#left)
    this.#left = piece.length < chunk.length ? 0 : this.#left - piece.length
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes >= CHUNK_BYTES || this.#left === 0) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), COALESCE_MS)
    return this.#output.backedUp ? this.#output.drained() : undefined
  }

  /** Sends what is there. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#bytes > 0) this.#output.send(messageFields('TOOL_OUTPUT', [this.#id, asText(Buffer.concat(this.#pieces))], { stream: this.#stream }))
    this.#pieces = []
    this.#bytes = 0
  }
}

/** The characters that fit into `limit` bytes. */
function upTo(chunk: Buffer, limit: number): Buffer {
  const cut = chunk.subarray(0, limit)
  return cut.subarray(0, cut.length - unfinishedAtEnd(cut))
}
