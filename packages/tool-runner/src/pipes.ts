import { closeSync, constants, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { TemporaryDirectory } from './temporary-directory.js'
import { ToolError } from './tool-error.js'

/** When the shell has ended, at most this much more is read: somebody else may go on writing for ever. */
const DRAIN_BYTES = 1024 * 1024

/**
 * Pipes for what commands print. Node gives its children sockets, on which `echo >/dev/stderr` fails; FIFOs are the only real pipes that
 * it can make. One that nobody writes to any more is used again.
 */
export class Pipes {
  readonly #temporary: TemporaryDirectory
  #free: string[] = []

  constructor(temporary: TemporaryDirectory) {
    this.#temporary = temporary
  }

  /** A pipe: a descriptor for the writer, who gets a copy of it, and the reader of the other end. */
  async open(): Promise<{ readonly writeEnd: number; readonly reader: PipeReader }> {
    const path = this.#free.pop() ?? (await this.#make())
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return { writeEnd: openSync(path, constants.O_WRONLY), reader: new PipeReader(readEnd, (ended) => this.#release(path, ended)) }
  }

  /** Removes what is left of them. */
  async leave(): Promise<void> {
    for (const path of this.#free.splice(0)) await unlink(path).catch(() => {})
  }

  async #make(): Promise<string> {
    const { execa } = await import('execa')
    const path = await this.#temporary.path('pipe')
    const { failed, shortMessage } = await execa('mkfifo', ['-m', '600', path], { reject: false })
    if (failed) throw new ToolError(`there is no pipe for what it prints: ${shortMessage}`)
    return path
  }

  #release(path: string, ended: boolean): void {
    if (ended) this.#free.push(path)
    else void unlink(path).catch(() => {})
  }
}

/** Takes a chunk; gives a promise when it wants to wait before it gets the next. */
export type ChunkSink = (chunk: Buffer) => Promise<void> | undefined

/** The reading end of a pipe. */
export class PipeReader {
  readonly #socket: Socket
  readonly #release: (ended: boolean) => void
  #sink: ChunkSink = () => undefined
  #bytes = 0
  #ended = false
  #closed = false
  /** Resolves when reading goes on, while it waits for the sink. */
  #paused: Promise<void> | undefined

  constructor(descriptor: number, release: (ended: boolean) => void) {
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false })
    this.#release = release
  }

  /** Hands on what comes, from now on. */
  start(sink: ChunkSink): void {
    this.#sink = sink
    this.#socket.on('data', (chunk: Buffer) => this.#chunk(chunk))
    this.#socket.on('end', () => this.#end())
    this.#socket.on('error', () => this.#end())
  }

  /** Reads what is in the pipe now, whoever may go on writing to it; then closes it. */
  async finish(): Promise<void> {
    const limit = this.#bytes + DRAIN_BYTES
    for (let quietTurns = 0; quietTurns < 2 && !this.#ended && this.#bytes < limit; quietTurns++) {
      const before = this.#bytes
      await this.#paused
      await turn()
      if (this.#bytes > before) quietTurns = -1
    }
    this.close()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#socket.destroy()
    this.#release(this.#ended)
  }

  #chunk(chunk: Buffer): void {
    this.#bytes += chunk.length
    const wait = this.#sink(chunk)
    if (wait === undefined) return
    this.#socket.pause()
    this.#paused = wait.then(() => {
      this.#paused = undefined
      this.#socket.resume()
    })
  }

  #end(): void {
    this.#ended = true
  }
}

/** Closes our copy of a writing end. */
export function closeWriteEnd(descriptor: number): void {
  closeSync(descriptor)
}
