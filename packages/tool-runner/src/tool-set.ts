import { messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'
import type { Tool } from './tool.js'

/** The tools that are ours. Of a name the first definition in the ring wins, be it ours or another runner's. */
export class ToolSet {
  readonly #output: Output
  readonly #isWanted: (name: string) => boolean
  readonly #builtIn = new Map<string, Tool>()
  readonly #outside = new Map<string, Tool>()
  /** Names that another runner has defined. */
  readonly #others = new Set<string>()
  #announced = false

  constructor(output: Output, builtIn: readonly Tool[], isWanted: (name: string) => boolean) {
    this.#output = output
    this.#isWanted = isWanted
    for (const tool of builtIn) if (isWanted(tool.name)) this.#builtIn.set(tool.name, tool)
  }

  get(name: string): Tool | undefined {
    return this.#builtIn.get(name) ?? this.#outside.get(name)
  }

  /** Adds a tool from outside; one that comes late is announced at once. False where the name is taken. */
  add(tool: Tool): boolean {
    if (this.get(tool.name) !== undefined) return false
    if (!this.#isWanted(tool.name) || this.#others.has(tool.name)) return true
    this.#outside.set(tool.name, tool)
    if (this.#announced) this.#define(tool)
    return true
  }

  /** Another runner's definition passes. Before HELLO it is an earlier one's, which wins; behind it ours has been the first. */
  definedByOther(name: string): void {
    if (this.#announced && this.get(name) !== undefined) return
    this.#others.add(name)
    this.#builtIn.delete(name)
    this.#outside.delete(name)
  }

  /** Defines all of them: the order is the same in every run, since model servers remember beginnings of requests. */
  announce(): void {
    this.#announced = true
    const outside = [...this.#outside.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const tool of [...this.#builtIn.values(), ...outside]) this.#define(tool)
  }

  /** Lets them get ready for their first calls. */
  async warmUp(): Promise<void> {
    await Promise.all([...this.#builtIn.values()].map((tool) => tool.warmUp?.()))
  }

  #define({ name, description, inputSchema, readOnly }: Tool): void {
    this.#output.send(messageFields('TOOL_DEF', [name, description, JSON.stringify(inputSchema)], { read_only: String(readOnly) }))
  }
}
