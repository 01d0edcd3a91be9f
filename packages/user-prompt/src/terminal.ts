import { openSync } from 'node:fs'
import { isatty, ReadStream } from 'node:tty'
import { EXIT, StageError, systemError } from '@agentpipe/stage'

/** Setting modes takes no longer, unless we were stopped over it. */
const STOPPED_MS = 100

/** The terminal as a source of keys. Nothing is ever written to it: that is resp-render's. */
export class Terminal {
  readonly #stream: ReadStream
  #restored = false

  /** Opens the terminal that we run on, in raw mode. Throws StageError (69) where there is none. */
  constructor(handlers: { readonly keys: (bytes: Buffer) => void; readonly gone: () => void; readonly shown: () => void }) {
    this.#stream = open()
    this.#stream.setRawMode(true)
    // What was typed before the terminal was raw: Enter came as LF.
    this.#stream.once('data', (bytes: Buffer) => {
      handlers.keys(Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r'), 'latin1'))
      this.#stream.on('data', handlers.keys)
    })
    this.#stream.on('error', handlers.gone)
    this.#stream.on('end', handlers.gone)
    process.on('exit', () => this.restore())
    // Another program may have had the terminal meanwhile.
    process.on('SIGTSTP', this.#stop)
    process.on('SIGCONT', () => this.#again(handlers.shown))
    process.on('SIGWINCH', handlers.shown)
  }

  /** Ctrl-Z: the whole job stops, as it would have if the terminal had sent the signal itself. */
  suspend(): void {
    // In this order, and stopped by the signal itself: once the others have stopped the terminal is the shell's, and it may have us go on at once.
    this.#setRaw(false)
    process.off('SIGTSTP', this.#stop)
    process.kill(0, 'SIGTSTP')
    process.on('SIGTSTP', this.#stop)
  }

  /** Gives the terminal back as it was. */
  restore(): void {
    if (this.#restored) return
    this.#restored = true
    this.#setRaw(false)
    this.#stream.destroy()
  }

  /** Somebody else has sent the signal. If the shell has the terminal already we are stopped as we set its modes, and have then been told to go on. */
  readonly #stop = (): void => {
    const begin = performance.now()
    this.#setRaw(false)
    if (performance.now() - begin < STOPPED_MS) process.kill(process.pid, 'SIGSTOP')
  }

  #again(shown: () => void): void {
    if (this.#restored) return
    // Node thinks that it is raw already, or not: both are made true.
    this.#setRaw(false)
    this.#setRaw(true)
    shown()
  }

  #setRaw(raw: boolean): void {
    try {
      this.#stream.setRawMode(raw)
    } catch {
      // The terminal is gone: there is nothing to be set.
    }
  }
}

function open(): ReadStream {
  try {
    const descriptor = openSync('/dev/tty', 'r')
    if (!isatty(descriptor)) throw new StageError(EXIT.UNAVAILABLE, '/dev/tty is no terminal')
    return new ReadStream(descriptor)
  } catch (error) {
    if (error instanceof StageError) throw error
    throw systemError(EXIT.UNAVAILABLE, 'cannot open the terminal, whose keys it reads; run it on one, or write frames with resp write', error)
  }
}
