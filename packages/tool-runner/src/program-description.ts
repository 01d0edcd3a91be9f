import { reason } from '@agentpipe/stage'
import { ToolError } from './tool-error.js'

/** Names that every model server takes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/

/** What a program says of itself as a tool. */
export interface ProgramDescription {
  readonly name: string
  readonly description: string
  /** A JSON Schema. */
  readonly inputSchema: object
  readonly readOnly: boolean
}

/** Reads what `--describe` printed: `{"name", "description", "input_schema", "read_only"}`, the schema under the names too that other programs have for it. Throws ToolError. */
export function programDescription(text: string): ProgramDescription {
  const value = parse(text)
  const { name, description, input_schema, inputSchema, schema, parameters, read_only = false } = value
  if (typeof name !== 'string' || !NAME.test(name)) throw new ToolError(`its name must be 1 to 64 of A-Z a-z 0-9 _ -, not ${JSON.stringify(name)}`)
  if (typeof description !== 'string') throw new ToolError('its description must be a text')
  const given = input_schema ?? inputSchema ?? schema ?? parameters ?? { type: 'object' }
  if (!isObject(given)) throw new ToolError('its input_schema must be a JSON Schema')
  if (typeof read_only !== 'boolean') throw new ToolError('its read_only must be true or false')
  return { name, description, inputSchema: { type: 'object', ...given }, readOnly: read_only }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new ToolError(`--describe printed no JSON: ${reason(error)}`)
  }
  throw new ToolError('--describe printed no JSON object')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
