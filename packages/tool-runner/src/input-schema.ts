import { ToolError } from './tool-error.js'

/** The part of JSON Schema that our tools' inputs need. */
export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required: readonly string[]
}

export interface PropertySchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly description: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
}

interface TypeOf {
  string: string
  integer: number
  number: number
  boolean: boolean
}

type Properties<Schema extends InputSchema> = Schema['properties']
type Required<Schema extends InputSchema> = Schema['required'][number]

/** The type of an input that keeps to a schema. */
export type InputOf<Schema extends InputSchema> = {
  readonly [Name in keyof Properties<Schema> & Required<Schema>]: TypeOf[Properties<Schema>[Name]['type']]
} & {
  readonly [Name in Exclude<keyof Properties<Schema>, Required<Schema>>]?: TypeOf[Properties<Schema>[Name]['type']]
}

/** Half a surrogate pair has no UTF-8: it could only be written as something else. */
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * The input of a call of `tool`, from its JSON text. Members that the schema doesn't name are left out. Throws ToolError, which names
 * the member that is wrong, for the model to do better.
 */
export function checkInput<Schema extends InputSchema>(tool: string, schema: Schema, text: string): InputOf<Schema> {
  const given = parse(text)
  const wrong = (problem: string) => new ToolError(`wrong input: ${problem}; ${tool} takes ${memberList(schema)}`)
  if (kindOf(given) !== 'an object') throw wrong(`expected an object, not ${kindOf(given)}`)
  const members = Object.entries(schema.properties)
    .filter(([name]) => Object.hasOwn(given as object, name))
    .map(([name, property]) => {
      const value = (given as Record<string, unknown>)[name]
      const problem = problemOf(property, value)
      if (problem !== undefined) throw wrong(`${name} ${problem}`)
      return [name, value]
    })
  const input = Object.fromEntries(members)
  const missing = schema.required.find((name) => !Object.hasOwn(input, name))
  if (missing !== undefined) throw wrong(`${missing} is missing`)
  return input
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ToolError(`wrong input: not JSON: ${(error as Error).message}`)
  }
}

function problemOf({ type, minimum, exclusiveMinimum }: PropertySchema, value: unknown): string | undefined {
  const fits = type === 'integer' ? Number.isInteger(value) : typeof value === type
  if (!fits) return `must be ${type === 'integer' ? 'an integer' : `a ${type}`}, not ${kindOf(value)}`
  if (typeof value === 'string' && LONE_SURROGATE.test(value)) return 'holds half of a surrogate pair, which is no text'
  if (typeof value !== 'number') return undefined
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}, not ${value}`
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}, not ${value}`
  return undefined
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function memberList({ properties, required }: InputSchema): string {
  return Object.entries(properties)
    .map(([name, { type }]) => `${name} (${type}${required.includes(name) ? '' : ', may be left out'})`)
    .join(', ')
}
