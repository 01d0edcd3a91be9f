import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

  async open(): Promise<Pipe> {
    if (this.#free.length === 0) await this.#make()
    const path = this.#free.pop() as string
    return new Pipe(path, (ended) => this.#release(path, ended))
  }

  /** Removes what is left of them. */
  async leave(): Promise<void> {
    for (const path of this.#free.splice(0)) await unlink(path).catch(() => {})
  }

  /** Two, as a command needs them. */
  async #make(): Promise<void> {
    const paths = [await this.#temporary.path('pipe'), await this.#temporary.path('pipe')]
    const making = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' })
    const problem = await once(making, 'exit').then(
      ([status]) => (status === 0 ? undefined : `mkfifo ended with status ${status}`),
      (error: Error) => error.message,
    )
    if (problem !== undefined) throw new ToolError(`there is no pipe for what it prints: ${problem}`)
    this.#free.push(...paths)
  }

  #release(path: string, ended: boolean): void {
    if (ended) this.#free.push(path)
    else void unlink(path).catch(() => {})
  }
}

/** Takes a chunk; gives a promise when it wants to wait before it gets the next. */
export type ChunkSink = (chunk: Buffer) => Promise<void> | undefined

/** One pipe: a child writes to it, we read. */
export class Pipe {
  /** For the child to inherit. */
  readonly writeEnd: number
  readonly #socket: Socket
  readonly #release: (ended: boolean) => void
  #sink: ChunkSink = () => undefined
  #bytes = 0
  #ended = false
  #writeEndClosed = false
  #closed = false
  /** Resolves when reading goes on, while it waits for the sink. */
  #paused: Promise<void> | undefined

  constructor(path: string, release: (ended: boolean) => void) {
    // The reader first: a FIFO without one can't be opened for writing.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.writeEnd = openSync(path, constants.O_WRONLY)
    this.#socket = new Socket({ fd: readEnd, readable: true, writable: false })
    this.#release = release
  }

  /** The child has the writing end, and we give up ours: what comes is handed on from now on. */
  start(sink: ChunkSink): void {
    this.#closeWriteEnd()
    this.#sink = sink
    this.#socket.on('data', (chunk: Buffer) => this.#chunk(chunk))
    this.#socket.on('end', () => this.#end())
    this.#socket.on('error', () => this.#end())
  }

  /** Reads what is in the pipe now, whoever may go on writing to it. */
  async finish(): Promise<void> {
    const limit = this.#bytes + DRAIN_BYTES
    for (let quietTurns = 0; quietTurns < 2 && !this.#ended && this.#bytes < limit; quietTurns++) {
      const before = this.#bytes
      await this.#paused
      await turn()
      if (this.#bytes > before) quietTurns = -1
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#closeWriteEnd()
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

  #closeWriteEnd(): void {
    if (!this.#writeEndClosed) closeSync(this.writeEnd)
    this.#writeEndClosed = true
  }
}
