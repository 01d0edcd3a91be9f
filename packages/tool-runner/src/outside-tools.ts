import { basename, dirname, join } from 'node:path'
import { type Diagnose, reason } from '@agentpipe/stage'
import type { Session } from './session.js'
import type { Tool } from './tool.js'
import { programsIn } from './tool-directories.js'
import { toolProgram } from './tool-program.js'

/** So many programs are asked what they are at the same time. */
const ASKED_AT_ONCE = 4

/** Tools that are not built in: programs of tools directories. Each is known when whoever has it has said what it is. */
export class OutsideTools {
  readonly #session: Session
  readonly #diagnose: Diagnose
  /** Resolves when every one of them is known, or never will be. */
  readonly settled: Promise<void>
  pending = true
  readonly #awaited = new Map<string, () => void>()

  /** `add` gets each, and says whether the name was free. */
  constructor(session: Session, diagnose: Diagnose, add: (tool: Tool) => boolean) {
    this.#session = session
    this.#diagnose = diagnose
    const found = (tool: Tool) => {
      const free = add(tool)
      this.#awaited.get(tool.name)?.()
      return free
    }
    this.settled = this.#programs(found).then(() => {
      this.pending = false
    })
  }

  /** Resolves when the tool of that name is known, or it is certain that there is none. */
  async known(name: string): Promise<void> {
    if (!this.pending) return
    const found = new Promise<void>((resolve) => {
      const others = this.#awaited.get(name)
      this.#awaited.set(name, () => {
        others?.()
        resolve()
      })
    })
    await Promise.race([found, this.settled])
  }

  /** Resolves when all of them are known, or that many milliseconds have gone by. */
  async within(milliseconds: number): Promise<void> {
    if (this.#session.toolDirectories.length === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    await Promise.race([this.settled, late])
    clearTimeout(timer)
  }

  async #programs(add: (tool: Tool) => boolean): Promise<void> {
    const waiting = this.#session.toolDirectories.flatMap(programsIn).values()
    const ask = async () => {
      for (const path of waiting) {
        const tool = await this.#program(path)
        if (tool !== undefined && !add(tool)) this.#diagnose(`${shortName(path)} is left out: there is a tool ${tool.name} already`)
      }
    }
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask))
  }

  async #program(path: string): Promise<Tool | undefined> {
    try {
      return await toolProgram(this.#session, path)
    } catch (error) {
      if (!this.#session.leaving.aborted) this.#diagnose(`${shortName(path)} is no tool: ${reason(error)}`)
      return undefined
    }
  }
}

/** Enough to find it by. */
function shortName(path: string): string {
  return join(basename(dirname(path)), basename(path))
}
