import { type MessageOf, parseObject } from '@agentpipe/message'

/** A tool that some runner runs. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of its input. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** The tools that runners have defined. The first definition of a name wins. */
export class ToolList {
  readonly #tools = new Map<string, Tool>()

  add({ name, description, input_schema: schema }: MessageOf<'TOOL_DEF'>): void {
    if (!this.#tools.has(name)) this.#tools.set(name, { name, description, schema: parseObject(schema) ?? {} })
  }

  has(name: string): boolean {
    return this.#tools.has(name)
  }

  get all(): Tool[] {
    return [...this.#tools.values()]
  }

  /** What a model is told when it calls something that is not there. */
  missing(name: string): string {
    const names = [...this.#tools.keys()].join(', ')
    return `There is no tool ${JSON.stringify(name.slice(0, 100))}. ${names === '' ? 'There are no tools at all.' : `The tools are: ${names}.`}`
  }
}
