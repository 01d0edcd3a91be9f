import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { EXIT, killGroup, reason, StageError } from '@agentpipe/stage'

/** It reads no more when it has taken nothing for so long. */
const STANDSTILL_MS = 2000

/** One run of the stage that is tried. */
export class Trial {
  /** What it has printed so far. */
  stdout = Buffer.alloc(0)
  stderr = ''
  /** Its status, or the signal that ended it, once it has ended and its output has been read. */
  end: number | string | undefined
  readonly #child: ChildProcess
  readonly #patience: number
  readonly #extended = new Set<() => void>()

  /**
   * Starts a command, does `check` with it, ends it and whatever it started. Gives what `check` found wrong, or undefined. `patience` is what the command
   * gets to start, to answer or to leave, in milliseconds. Throws StageError where it can't be started.
   */
  static async each(
    [file = '', ...args]: readonly string[],
    patience: number,
    check: (trial: Trial) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const { execa } = await import('execa')
    // A group of its own: what it starts goes with it. Its output is read by us alone, or not at all.
    const child = execa(file, args, { stdio: 'pipe', buffer: false, reject: false, detached: true, cleanup: false })
    void child.catch(() => {})
    if (child.pid === undefined)
      throw new StageError(EXIT.UNAVAILABLE, `cannot start ${file}: ${reason((await child).cause).replace(/^spawn .* ENOENT$/, 'there is no such command')}`)
    const ended = once(child, 'close')
    // execa reads on what nobody reads.
    child.stdout.pause()
    const kill = () => killGroup(child.pid as number, 'SIGKILL')
    process.on('exit', kill)
    try {
      return await check(new Trial(child as unknown as ChildProcess, patience))
    } finally {
      process.off('exit', kill)
      kill()
      child.stdin.destroy()
      child.stdout.destroy()
      await ended
    }
  }

  private constructor(child: ChildProcess, patience: number) {
    this.#child = child
    this.#patience = patience
    child.stdin?.on('error', () => {})
    child.stderr?.on('data', (chunk) => {
      // The end of it is enough, of a stage that has much to say.
      this.stderr = (this.stderr + chunk).slice(-(1 << 16))
      this.#extend()
    })
    child.on('close', (status, signal) => {
      this.end = status ?? signal ?? undefined
      this.#extend()
    })
  }

  /** Begins to read its output; before, nobody does. */
  read(): void {
    if (this.#child.stdout?.listenerCount('data') !== 0) return
    this.#child.stdout?.on('data', (chunk) => {
      this.stdout = Buffer.concat([this.stdout, chunk])
      this.#extend()
    })
    this.#child.stdout?.resume()
  }

  /** Its reader leaves. */
  closeOutput(): void {
    this.#child.stdout?.destroy()
  }

  send(bytes: Uint8Array): void {
    this.#child.stdin?.write(bytes)
  }

  /** Resolves when its input has been taken, or after a time; gives how many bytes have been. */
  async taken(bytes: Uint8Array, most: number): Promise<number> {
    const stdin = this.#child.stdin
    let taken = 0
    while (stdin?.writable && taken < most) {
      const written = new Promise<boolean>((resolve) => stdin.write(bytes, (error) => resolve(!error)))
      if (!(await Promise.race([written, pause(STANDSTILL_MS, false)]))) break
      taken += bytes.length
    }
    return taken
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Waits until `done` holds; false when it has not in time. */
  async until(done: () => boolean, milliseconds = this.#patience): Promise<boolean> {
    const deadline = Date.now() + milliseconds
    while (!done() && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now())
        this.#extended.add(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return done()
  }

  #extend(): void {
    for (const wake of this.#extended) wake()
    this.#extended.clear()
  }
}
