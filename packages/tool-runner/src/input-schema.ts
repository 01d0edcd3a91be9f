import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { ToolError } from './tool-error.js'

/** The JSON Schema of a tool's input, in the form that the types of inputs are made from. */
export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required: readonly string[]
}

export type PropertySchema = ScalarSchema | ArraySchema | (InputSchema & { readonly description?: string })

interface ScalarSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
}

interface ArraySchema {
  readonly type: 'array'
  readonly description?: string
  readonly items: PropertySchema
  readonly minItems?: number
}

interface TypeOf {
  string: string
  integer: number
  number: number
  boolean: boolean
}

type ValueOf<Schema> = Schema extends { enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { type: 'array'; items: infer Items }
    ? readonly ValueOf<Items>[]
    : Schema extends InputSchema
      ? InputOf<Schema>
      : Schema extends { type: keyof TypeOf }
        ? TypeOf[Schema['type']]
        : unknown

type Properties<Schema extends InputSchema> = Schema['properties']
type Required<Schema extends InputSchema> = Schema['required'][number]

/** The type of an input that keeps to a schema. */
export type InputOf<Schema extends InputSchema> = {
  readonly [Name in keyof Properties<Schema> & Required<Schema>]: ValueOf<Properties<Schema>[Name]>
} & {
  readonly [Name in Exclude<keyof Properties<Schema>, Required<Schema>>]?: ValueOf<Properties<Schema>[Name]>
}

/** Half a surrogate pair has no UTF-8: it could only be written as something else. */
const LONE_SURROGATE = /\p{Surrogate}/u

const validators = new WeakMap<object, Promise<ValidateFunction>>()
/** What compiles our own schemas, and those from outside. */
let own: Ajv | undefined
let outside: Ajv | undefined

/**
 * The input of a call of `tool`, from its JSON text. Members that the schema doesn't name are left out. Throws ToolError, which names
 * the member that is wrong, for the model to do better.
 */
export async function checkInput<Schema extends InputSchema>(tool: string, schema: Schema, text: string): Promise<InputOf<Schema>> {
  const wrong = (problem: string) => new ToolError(`wrong input: ${problem}; ${tool} takes ${memberList(schema)}`)
  const input = parse(text)
  const validate = await validatorOf(schema)
  if (!validate(input)) throw wrong(problemOf(validate.errors?.[0] as ErrorObject, input))
  const broken = brokenText(input, '')
  if (broken !== undefined) throw wrong(`${broken} holds half of a surrogate pair, which is no text`)
  return input as InputOf<Schema>
}

/**
 * The same for a tool from outside, with any JSON Schema: the members are left as they are. A schema that can't be used checks nothing, since who
 * wrote it checks the input as well.
 */
export async function checkOutsideInput(tool: string, schema: object, text: string): Promise<Readonly<Record<string, unknown>>> {
  const input = parse(text)
  const validate = await outsideValidatorOf(schema)
  if (validate !== undefined && !validate(input)) {
    const members = 'properties' in schema ? `; ${tool} takes ${memberList({ required: [], ...schema } as unknown as InputSchema)}` : ''
    throw new ToolError(`wrong input: ${problemOf(validate.errors?.[0] as ErrorObject, input)}${members}`)
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw new ToolError(`wrong input: expected an object, not ${kindOf(input)}`)
  return input as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ToolError(`wrong input: not JSON: ${(error as Error).message}`)
  }
}

/** The check of a schema, made once: ajv writes and compiles a function for each. */
export function validatorOf(schema: InputSchema): Promise<ValidateFunction> {
  const made = validators.get(schema) ?? compile(schema)
  validators.set(schema, made)
  return made
}

/** Ours are known to be schemas: to check them against the schema of schemas would take 100 ms. */
const OWN = { removeAdditional: 'all', strict: false, verbose: true, meta: false, validateSchema: false } as const
const OUTSIDE = { strict: false, validateFormats: false, verbose: true, logger: false, addUsedSchema: false } as const

async function compile(schema: InputSchema): Promise<ValidateFunction> {
  const { Ajv } = await import('ajv')
  own ??= new Ajv(OWN)
  return own.compile(schema)
}

async function outsideValidatorOf(schema: object): Promise<ValidateFunction | undefined> {
  // Whatever draft it names: what we know of it counts.
  const { $schema, $id, ...rest } = schema as Record<string, unknown>
  const made = validators.get(schema) ?? compileOutside(rest)
  validators.set(schema, made)
  return made.catch(() => undefined)
}

async function compileOutside(schema: object): Promise<ValidateFunction> {
  const { Ajv } = await import('ajv')
  outside ??= new Ajv(OUTSIDE)
  return outside.compile(schema)
}

function problemOf({ keyword, instancePath, params, data, message }: ErrorObject, input: unknown): string {
  const name = instancePath.slice(1).replaceAll('/', '.')
  const member = (last: string) => (name === '' ? last : `${name}.${last}`)
  switch (keyword) {
    case 'type':
      return name === '' ? `expected an object, not ${kindOf(input)}` : `${name} must be ${article(params.type)}, not ${kindOf(data)}`
    case 'required':
      return `${member(params.missingProperty)} is missing`
    case 'minimum':
      return `${name} must be at least ${params.limit}, not ${data}`
    case 'exclusiveMinimum':
      return `${name} must be more than ${params.limit}, not ${data}`
    case 'enum':
      return `${name} must be one of ${params.allowedValues.join(', ')}`
    case 'minItems':
      return `${name} must have at least ${params.limit}`
    default:
      return `${name} ${message}`
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return article(typeof value)
}

/** Where in a value a text is that has no UTF-8. */
function brokenText(value: unknown, name: string): string | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? name : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const broken = brokenText(member, name === '' ? key : `${name}.${key}`)
    if (broken !== undefined) return broken
  }
  return undefined
}

function memberList({ properties, required }: InputSchema): string {
  return Object.entries(properties)
    .map(([name, property]) => `${name} (${formOf(property)}${required.includes(name) ? '' : ', may be left out'})`)
    .join(', ')
}

function formOf(schema: PropertySchema): string {
  // A schema from outside may lack any of it.
  if (schema.type === undefined) return 'any'
  if (schema.type === 'array') return schema.items?.type === undefined ? 'array' : `array of ${formOf(schema.items)}`
  if (schema.type === 'object' && schema.properties === undefined) return 'object'
  if (schema.type === 'object')
    return `{${Object.entries(schema.properties)
      .map(([name, property]) => `${name}: ${formOf(property)}`)
      .join(', ')}}`
  return schema.enum === undefined ? schema.type : schema.enum.join('|')
}
