import { constants } from 'node:fs'
import { Socket } from 'node:net'
import { encodeFrame, type FieldValue, type Frame } from '@agentpipe/frame'
import { BlockWriter } from './block-writer.js'
import { closeDescriptor, descriptorKind, privatePipe, STDOUT } from './descriptors.js'
import type { Trace } from './trace.js'
import { writeAll } from './write-all.js'

/** Past this many bytes that the reader has not taken, the output says that it is backed up. */
const HIGH_WATER_BYTES = 256 * 1024
/** Pieces up to this size are copied together: one write in place of many. */
const SMALL_BYTES = 8 * 1024

export interface OutputOptions {
  readonly descriptor?: number
  readonly blocking?: boolean
  readonly trace?: Trace | undefined
}

/**
 * What a stage writes: whole frames, in order, through a descriptor that may be slow or gone.
 *
 * Frames that pass one after the other in the same chunk go out as one piece, without a copy. Nothing waits longer than the
 * current turn of the event loop. Once the reader is gone (EPIPE) what is written is dropped, and `closed` is true.
 */
export class Output {
  /** Called once, when the reader is found to be gone. */
  onClosed: () => void = () => {}
  /** Called once, when writing fails for another reason (a full disk). */
  onError: (error: NodeJS.ErrnoException) => void = () => {}
  closed = false

  readonly #descriptor: number
  readonly #socket: Socket | undefined
  /** Of a blocking output. */
  readonly #blocks: BlockWriter | undefined
  readonly #trace: Trace | undefined
  #pieces: Buffer[] = []
  /** Bytes in #pieces and in the socket. */
  #queued = 0
  #scheduled = false
  /** Frames passing in one piece: this part of #runSource. */
  #runSource: Buffer | undefined
  #runStart = 0
  #runEnd = 0
  #waiting: { limit: number; resume: () => void }[] = []

  /**
   * `blocking`: it waits until the reader takes what is written, and what is given to it is copied or written at once, in memory that stays the same. That is
   * the simplest and fastest way, and for those only who have nothing else to do meanwhile: no children, no timers, no signals to act on.
   */
  constructor({ descriptor = STDOUT, blocking = false, trace }: OutputOptions = {}) {
    this.#trace = trace
    this.#descriptor = descriptor
    if (blocking) this.#blocks = new BlockWriter(descriptor)
    if (!blocking && descriptorKind(descriptor) === 'pipe') this.#socket = this.#openSocket(privatePipe(descriptor, constants.O_WRONLY))
  }

  /** Whether who produces should wait for `drained`. */
  get backedUp(): boolean {
    return this.#queued > HIGH_WATER_BYTES
  }

  /** Bytes that the reader has not taken yet. */
  get queued(): number {
    return this.#queued
  }

  /** Passes a frame on, byte for byte. */
  pass(frame: Frame): void {
    this.#trace?.('>', frame)
    if (this.#blocks !== undefined) {
      this.#write(this.#blocks, frame.bytes)
      this.#schedule()
      return
    }
    if (frame.source === this.#runSource && frame.start === this.#runEnd) {
      this.#runEnd = frame.end
      return
    }
    this.#endRun()
    this.#runSource = frame.source
    this.#runStart = frame.start
    this.#runEnd = frame.end
    this.#schedule()
  }

  /** Writes a frame of its own, given as fields. Throws RangeError past the limits of a frame. */
  send(fields: readonly FieldValue[]): void {
    const bytes = encodeFrame(fields)
    this.#trace?.('>', fields)
    this.write(bytes)
  }

  /** Writes bytes. The buffer must not be changed afterwards, unless the output is blocking. */
  write(bytes: Buffer | string): void {
    this.#endRun()
    this.#queue(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    this.#schedule()
  }

  /** Hands everything to the system, or to the socket's queue, now. */
  flush(): void {
    this.#scheduled = false
    if (this.#blocks !== undefined) {
      this.#write(this.#blocks)
      return
    }
    this.#endRun()
    const pieces = joinSmall(this.#pieces)
    this.#pieces = []
    if (this.closed) return
    if (this.#socket === undefined) this.#writeSync(pieces)
    else this.#writeSocket(this.#socket, pieces)
  }

  /** Resolves when it is no longer backed up; at once if it isn't. */
  drained(): Promise<void> {
    return this.#below(HIGH_WATER_BYTES)
  }

  /** Resolves when the reader has everything, or is gone. */
  async finished(): Promise<void> {
    this.flush()
    await this.#below(0)
  }

  /** Writes what is left, then closes the descriptor: the reader sees the end of its input. Nothing can be written afterwards. */
  async close(): Promise<void> {
    await this.finished()
    this.closed = true
    this.#socket?.destroy()
    // The socket closes in a later turn; the reader must see the end even if the process goes on for long.
    closeDescriptor(this.#descriptor)
  }

  #endRun(): void {
    if (this.#runSource === undefined) return
    this.#queue(this.#runSource.subarray(this.#runStart, this.#runEnd))
    this.#runSource = undefined
  }

  #queue(bytes: Buffer): void {
    if (this.#blocks !== undefined) {
      this.#write(this.#blocks, bytes)
      return
    }
    if (this.closed || bytes.length === 0) return
    this.#pieces.push(bytes)
    this.#queued += bytes.length
  }

  #write(blocks: BlockWriter, bytes?: Buffer): void {
    if (this.closed) return
    try {
      if (bytes === undefined) blocks.flush()
      else blocks.write(bytes)
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException)
    }
    this.#queued = this.closed ? 0 : blocks.held
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    process.nextTick(() => {
      if (this.#scheduled) this.flush()
    })
  }

  #openSocket(descriptor: number): Socket {
    const socket = new Socket({ fd: descriptor, readable: false, writable: true })
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    return socket
  }

  #writeSocket(socket: Socket, pieces: readonly Buffer[]): void {
    if (pieces.length > 1) socket.cork()
    for (const piece of pieces) socket.write(piece, (error) => this.#taken(piece.length, error))
    if (pieces.length > 1) socket.uncork()
  }

  #writeSync(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      try {
        writeAll(this.#descriptor, piece)
      } catch (error) {
        this.#fail(error as NodeJS.ErrnoException)
      }
      this.#taken(piece.length)
    }
  }

  #taken(bytes: number, error?: Error | null): void {
    if (error) this.#fail(error)
    this.#queued -= bytes
    if (this.#waiting.length > 0) this.#wake()
  }

  #below(limit: number): Promise<void> {
    if (this.#queued <= limit || this.closed) return Promise.resolve()
    return new Promise((resume) => this.#waiting.push({ limit, resume }))
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ limit }) => this.#queued <= limit || this.closed)
    this.#waiting = this.#waiting.filter((waiter) => !ready.includes(waiter))
    for (const { resume } of ready) resume()
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.closed) return
    this.closed = true
    this.#pieces = []
    this.#runSource = undefined
    this.#wake()
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') this.onClosed()
    else this.onError(error)
  }
}

/** Neighbouring small pieces as one: a system call costs more than copying them. */
function joinSmall(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = []
  let small: Buffer[] = []
  const endSmall = () => {
    if (small.length > 0) joined.push(small.length === 1 ? (small[0] as Buffer) : Buffer.concat(small))
    small = []
  }
  for (const piece of pieces) {
    if (piece.length <= SMALL_BYTES) {
      small.push(piece)
      continue
    }
    endSmall()
    joined.push(piece)
  }
  endSmall()
  return joined
}
