import { setTimeout as sleep } from 'node:timers/promises'
import { usage } from '@agentpipe/stage'

/** The longest pause, in recorded time: who replays a session does not wait for its breaks. */
const LONGEST_MS = 2000

/** Waits between events as long as passed when they were recorded. */
export class Pace {
  readonly #speed: number
  #last: number | undefined

  /** `speed`: how many times as fast as recorded; `max` without any wait. Throws StageError (64) where it is neither. */
  constructor(speed: string) {
    this.#speed = speed === 'max' ? Number.POSITIVE_INFINITY : Number(speed)
    if (!(this.#speed > 0)) throw usage(`--speed: expected a number like 1, 2 or 0.5, or max, found ${JSON.stringify(speed)}`)
  }

  /** Milliseconds to wait before an event that was recorded at `time`. A clock that was set back makes no pause. */
  before(time: string): number {
    const now = Date.parse(time)
    const passed = now - (this.#last ?? now)
    this.#last = now
    return Math.min(Math.max(passed, 0), LONGEST_MS) / this.#speed
  }

  /** Resolves when it is time for that event. `flush`: what stands before it goes out first. */
  async wait(time: string, flush: () => void): Promise<void> {
    const milliseconds = this.before(time)
    if (milliseconds < 1) return
    flush()
    await sleep(milliseconds)
  }

  /** Whether there is anything to wait for. */
  get isReal(): boolean {
    return this.#speed < Number.POSITIVE_INFINITY
  }
}
