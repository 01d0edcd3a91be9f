import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A private directory (0700), made when it is first needed; it stays after the process has ended if there are outputs in it. */
export class TemporaryDirectory {
  #directory: Promise<string> | undefined
  readonly #made: (directory: string) => void
  #names = 0

  /** `made` is told of it. */
  constructor(made: (directory: string) => void) {
    this.#made = made
  }

  /** A path in it that has not been given out before. */
  async path(name: string): Promise<string> {
    this.#directory ??= this.#make()
    return join(await this.#directory, `${name}-${++this.#names}`)
  }

  async #make(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'agentpipe-'))
    this.#made(directory)
    return directory
  }

  /** Takes it away if nothing is in it. */
  async leave(): Promise<void> {
    if (this.#directory === undefined) return
    await this.#directory.then((directory) => rmdir(directory)).catch(() => {})
  }
}
