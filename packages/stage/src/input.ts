import { constants, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { ReadStream } from 'node:tty'
import { descriptorKind, privatePipe } from './descriptors.js'
import { pause } from './diagnostics.js'

const SLICE_BYTES = 64 * 1024

/** What a reader of bytes hands on. Nothing comes after `end` or `error`. A chunk belongs to who gets it. */
export interface InputHandlers {
  chunk(bytes: Buffer): void
  end(): void
  error(error: NodeJS.ErrnoException): void
}

/** A descriptor being read. It begins to read at once, in a later turn of the event loop. */
export interface Input {
  pause(): void
  resume(): void
  /** Reads no further, and lets the process end. */
  stop(): void
}

/** Reads `descriptor`: pipes, sockets and terminals as data comes, files in slices between turns of the event loop. */
export function readInput(descriptor: number, handlers: InputHandlers): Input {
  const kind = descriptorKind(descriptor)
  if (kind === 'file') return readFile(descriptor, handlers)
  return readStream(kind === 'pipe' ? pipeStream(descriptor) : terminalStream(descriptor), handlers)
}

function pipeStream(descriptor: number): Socket {
  // What we opened ourselves nobody shares, and a FIFO must not be opened anew: its writer may have come and gone
  // meanwhile, and the new file would wait for another one for ever.
  const own = descriptor > 2 ? descriptor : privatePipe(descriptor, constants.O_RDONLY)
  return new Socket({ fd: own, readable: true, writable: false })
}

function terminalStream(descriptor: number): Socket {
  return new ReadStream(descriptor)
}

function readStream(stream: Socket, handlers: InputHandlers): Input {
  let done = false
  const finish = (report: () => void) => {
    if (done) return
    done = true
    report()
  }
  stream.on('data', (chunk: Buffer) => {
    if (!done) handlers.chunk(chunk)
  })
  stream.on('end', () => finish(() => handlers.end()))
  stream.on('error', (error: NodeJS.ErrnoException) => finish(() => (error.code === 'ECONNRESET' ? handlers.end() : handlers.error(error))))
  return {
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    stop: () => {
      done = true
      stream.destroy()
    },
  }
}

function readFile(descriptor: number, handlers: InputHandlers): Input {
  let paused = false
  let scheduled = false
  let done = false
  const schedule = () => {
    if (scheduled || paused || done) return
    scheduled = true
    setImmediate(slice)
  }
  const slice = () => {
    scheduled = false
    if (paused || done) return
    const bytes = Buffer.allocUnsafeSlow(SLICE_BYTES)
    let count: number
    try {
      count = readSync(descriptor, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return void setTimeout(schedule, 1)
      done = true
      return handlers.error(error as NodeJS.ErrnoException)
    }
    if (count === 0) {
      done = true
      return handlers.end()
    }
    handlers.chunk(bytes.subarray(0, count))
    schedule()
  }
  schedule()
  return {
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
      schedule()
    },
    stop: () => {
      done = true
    },
  }
}

/** All of a descriptor at once, or at least the first `most` bytes, for what is needed whole before anything can be done. Waits for it; EAGAIN too. */
export function readAll(descriptor: number, most = Number.POSITIVE_INFINITY): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (const chunk of readChunks(descriptor)) {
    // A view of a few bytes would hold the whole slice: input that comes byte by byte must not cost 64 KiB a byte.
    chunks.push(chunk.length < SLICE_BYTES / 2 ? Buffer.from(chunk) : chunk)
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(chunks)
}

/** The chunks of a descriptor, each waited for: the plain way to read where nothing else goes on in the process. */
export function* readChunks(descriptor: number): Generator<Buffer> {
  for (;;) {
    const bytes = Buffer.allocUnsafeSlow(SLICE_BYTES)
    let count: number
    try {
      count = readSync(descriptor, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      pause(1)
      continue
    }
    if (count === 0) return
    yield bytes.subarray(0, count)
  }
}
