import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Mode } from './options.js'
import { isWithin } from './paths.js'
import { ToolError } from './tool-error.js'

/** What calls may do. */
export class Policy {
  readonly #mode: Mode
  readonly #writable: readonly string[]

  /** `workspace` is a real path. */
  constructor(mode: Mode, workspace: string) {
    this.#mode = mode
    this.#writable = [workspace, realPathOf(tmpdir())]
  }

  /** Throws ToolError (denied) when a tool may not run at all. */
  checkTool(tool: { readonly name: string; readonly readOnly: boolean }): void {
    if (this.#mode === 'read-only' && !tool.readOnly) throw denied(`--mode read-only: ${tool.name} can change things`)
  }

  /** Throws ToolError (denied) when the file that `path` leads to, a real path, may not be written. */
  checkWrite(path: string): void {
    if (this.#mode !== 'workspace' || this.#writable.some((directory) => isWithin(directory, path))) return
    throw denied(`--mode workspace: ${path} is outside ${this.#writable.join(' and ')}`)
  }
}

function denied(rule: string): ToolError {
  return new ToolError(`denied by ${rule}`, 'denied')
}

function realPathOf(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}
