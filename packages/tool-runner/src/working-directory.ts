import { accessSync, constants, statSync } from 'node:fs'
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
  enter(): { readonly directory: string; readonly note: string | undefined } {
    const wanted = this.#current
    if (isUsable(wanted)) return { directory: wanted, note: undefined }
    let directory = this.#workspace
    while (directory !== '/' && !isUsable(directory)) directory = dirname(directory)
    this.#current = directory
    return { directory, note: `[the working directory ${wanted} is gone: commands run in ${directory} now]` }
  }

  /** A command has ended in `directory`. */
  left(directory: string | undefined): void {
    if (directory !== undefined) this.#current = directory
  }
}

/** Synchronous: the thread pool would cost more than the work, for every command. */
function isUsable(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK)
    return statSync(directory).isDirectory()
  } catch {
    return false
  }
}
