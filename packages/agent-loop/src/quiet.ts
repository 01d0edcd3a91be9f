import { setTimeout as sleep } from 'node:timers/promises'

const QUIET_MS = 2000
const LOOK_AGAIN_MS = 200

/** Knows when frames came last. */
export class Quiet {
  #last = 0

  frame(): void {
    this.#last = performance.now()
  }

  /** Resolves when `over` holds and no frame has come for two seconds. */
  async after(over: () => boolean): Promise<void> {
    this.frame()
    while (!over() || performance.now() - this.#last < QUIET_MS) await sleep(LOOK_AGAIN_MS)
  }
}
