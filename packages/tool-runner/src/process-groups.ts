import { setTimeout as sleep } from 'node:timers/promises'
import { killGroup, Reaper } from '@agentpipe/stage'
import { COMMANDS_MARK } from './environment.js'

/** How long a group has between SIGTERM and SIGKILL. */
const GRACE_MS = 1000
const LEFT_BEHIND_GRACE_MS = 300
const LOOK_AGAIN_MS = 20

/**
 * The process groups of commands: those that run, and what commands have left behind when their shell had ended (`server &`), which
 * lives as long as tool-runner does. The reaper knows them all, so that not even SIGKILL of tool-runner leaves one.
 */
export class ProcessGroups {
  readonly #reaper = new Reaper(COMMANDS_MARK)
  readonly #running = new Set<number>()
  readonly #leftBehind = new Set<number>()
  #killing = false

  /** A private directory, to be taken away even if we are killed; outputs in it stay. */
  removes(directory: string): void {
    this.#reaper.removes(directory, 'pipe-*', 'report-*', 'command-*', 'input-*')
  }

  /** A command has been started as the leader of `group`. */
  started(group: number): void {
    this.#running.add(group)
    this.#reaper.add(group)
    if (this.#killing) killGroup(group, 'SIGKILL')
    this.#forgetEmpty()
  }

  /** The leader of `group` has ended. */
  ended(group: number): void {
    this.#running.delete(group)
    this.#leftBehind.add(group)
    this.#forgetEmpty()
  }

  /** Ends a whole group: SIGTERM, and SIGKILL for what is still there a second later. Resolves when it has been sent. */
  end(group: number): Promise<void> {
    return endGroup(group, GRACE_MS)
  }

  /** Kills every process of every group, now, and of those that are still to be started. */
  killAll(): void {
    this.#killing = true
    for (const group of [...this.#running, ...this.#leftBehind]) killGroup(group, 'SIGKILL')
  }

  /** Ends what still runs, in the background, and what commands have left behind. */
  async leave(): Promise<void> {
    await Promise.all([...this.#running, ...this.#leftBehind].map((group) => endGroup(group, LEFT_BEHIND_GRACE_MS)))
    this.#forgetEmpty()
  }

  /** A group without processes is forgotten as soon as may be: its number can become another's. */
  #forgetEmpty(): void {
    for (const group of this.#leftBehind) {
      if (killGroup(group, 0)) continue
      this.#leftBehind.delete(group)
      this.#reaper.remove(group)
    }
  }
}

async function endGroup(group: number, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs
  killGroup(group, 'SIGTERM')
  // A stopped process gets its SIGTERM only when it goes on.
  killGroup(group, 'SIGCONT')
  while (Date.now() < deadline && killGroup(group, 0)) await sleep(LOOK_AGAIN_MS)
  killGroup(group, 'SIGKILL')
}
