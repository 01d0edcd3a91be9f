import { basename, dirname, join, parse } from 'node:path'
import { type Diagnose, reason } from '@agentpipe/stage'
import { McpServer } from './mcp-server.js'
import type { Session } from './session.js'
import type { Tool } from './tool.js'
import { programsIn } from './tool-directories.js'
import { toolProgram } from './tool-program.js'

/** So many programs are asked what they are at the same time. */
const ASKED_AT_ONCE = 4

/** Tools that are not built in: programs of tools directories, and what MCP servers have. Each is known when whoever has it has said what it is. */
export class OutsideTools {
  readonly #session: Session
  readonly #diagnose: Diagnose
  /** Resolves when every one of them is known, or never will be. */
  readonly settled: Promise<void>
  pending = true
  readonly #servers: readonly McpServer[]
  /** Servers that can't be used, and why. */
  readonly #failed = new Map<string, string>()
  readonly #awaited = new Map<string, () => void>()

  /** `add` gets each, and says whether the name was free. */
  constructor(session: Session, diagnose: Diagnose, add: (tool: Tool) => boolean) {
    this.#session = session
    this.#diagnose = diagnose
    this.#servers = session.mcpEntries.map((entry) => new McpServer(entry, session))
    const found = (tool: Tool) => {
      const free = add(tool)
      this.#awaited.get(tool.name)?.()
      return free
    }
    this.settled = Promise.all([this.#programs(found), ...this.#servers.map((server) => this.#server(server, found))]).then(() => {
      this.pending = false
    })
  }

  /** Whether there are any to look for. */
  get any(): boolean {
    return this.#session.toolDirectories.length + this.#servers.length > 0
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
    if (!this.any) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    await Promise.race([this.settled, late])
    clearTimeout(timer)
  }

  /** Ends the connections. */
  async leave(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.leave()))
  }

  async #programs(add: (tool: Tool) => boolean): Promise<void> {
    const paths = this.#session.toolDirectories.flatMap(programsIn)
    const waiting = paths.values()
    /** Whoever answers first, a name is that of the program that is called so, else of the first one in order. */
    const others = new Map<string, Tool>()
    const take = (path: string, tool: Tool) => {
      if (!add(tool)) this.#diagnose(`${shortName(path)} is left out: there is a tool ${tool.name} already`)
    }
    const ask = async () => {
      for (const path of waiting) {
        const tool = await this.#program(path)
        if (tool === undefined) continue
        if (paths.find((other) => parse(other).name === tool.name) === path) take(path, tool)
        else others.set(path, tool)
      }
    }
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask))
    for (const path of paths) {
      const tool = others.get(path)
      if (tool !== undefined) take(path, tool)
    }
  }

  /** Why there is no tool of that name, where it would be one of a server that can't be used. */
  whyNot(name: string): string | undefined {
    return [...this.#failed].find(([prefix]) => name.startsWith(prefix))?.[1]
  }

  async #server(server: McpServer, add: (tool: Tool) => boolean): Promise<void> {
    try {
      await server.connect(add)
    } catch (error) {
      const problem = `MCP server ${server.name} can't be used: ${reason(error)}`
      this.#failed.set(server.prefix, problem)
      if (!this.#session.leaving.aborted) this.#diagnose(problem)
    }
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
