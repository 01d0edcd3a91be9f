import { type MessageOf, parseObject } from '@agentpipe/message'

/** A tool that some runner runs. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of its input. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** How many tools a model is told of when it calls one that is not there, and how much of each name. */
const NAMES_SHOWN = 200
const NAME_LENGTH = 100

/** The tools that runners have defined. The first definition of a name wins. */
export class ToolList {
  readonly #tools = new Map<string, Tool>()
  #closed = false

  /** Whether a call may be sent at all. A runner that defined its tool would run it, whatever we answer. */
  get closed(): boolean {
    return this.#closed
  }

  add({ name, description, input_schema: schema }: MessageOf<'TOOL_DEF'>): void {
    if (!this.#closed && !this.#tools.has(name)) this.#tools.set(name, { name, description, schema: parseObject(schema) ?? {} })
  }

  /** There are no tools and there will be none: nobody may use them, or their results could not come round. */
  close(): void {
    this.#closed = true
    this.#tools.clear()
  }

  has(name: string): boolean {
    return this.#tools.has(name)
  }

  get all(): Tool[] {
    return [...this.#tools.values()]
  }

  /** What a model is told when it calls something that is not there. */
  missing(name: string): string {
    const names = [...this.#tools.keys()].slice(0, NAMES_SHOWN).map((each) => each.slice(0, NAME_LENGTH))
    const more = this.#tools.size - names.length
    const there = names.length === 0 ? 'There are no tools at all.' : `The tools are: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
    return `There is no tool ${JSON.stringify(name.slice(0, NAME_LENGTH))}. ${there}`
  }
}
