import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Where the next command runs: the workspace at first, then where the last command was when it ended. */
export class WorkingDirectory {
  readonly #workspace: string
  #current: string

  constructor(workspace: string) {
    this.#workspace = workspace
    this.#current = workspace
  }

  /**
   * The directory to run in. Where it is gone or closed to us, the workspace takes its place, or the nearest directory above that is
   * there; `note` says so, once.
   */
  async enter(): Promise<{ readonly directory: string; readonly note: string | undefined }> {
    const wanted = this.#current
    if (await isUsable(wanted)) return { directory: wanted, note: undefined }
    let directory = this.#workspace
    while (directory !== '/' && !(await isUsable(directory))) directory = dirname(directory)
    this.#current = directory
    return { directory, note: `[the working directory ${wanted} is gone: commands run in ${directory} now]` }
  }

  /** A command has ended in `directory`. */
  left(directory: string | undefined): void {
    if (directory !== undefined) this.#current = directory
  }
}

async function isUsable(directory: string): Promise<boolean> {
  try {
    await access(directory, constants.X_OK)
    return (await stat(directory)).isDirectory()
  } catch {
    return false
  }
}
