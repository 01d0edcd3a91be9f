import { EXIT, printable, reason, StageError } from '@agentpipe/stage'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { readOptionFile } from './option-file.js'

/** How much of what is wrong the model is told: errors, and characters of each. */
const MOST_ERRORS = 8
const LONGEST_ERROR = 200

/** What the final answer has to be. */
export interface OutputSchema {
  /** What the model is told of it, in the system prompt. */
  readonly prompt: string
  /** What is wrong with an answer; undefined for nothing. */
  problem(answer: string): string | undefined
}

/**
 * The JSON Schema in a file: draft-07 where its $schema says so, else 2020-12. `format` is not checked, references to other files are not followed.
 * Throws StageError: 66 when the file can't be read, 78 when it is no schema.
 */
export async function readOutputSchema(path: string): Promise<OutputSchema> {
  const text = readOptionFile(path)
  const schema = parse(text, path)
  const validate = await compile(schema, path)
  return {
    prompt: `Your final answer must be JSON that satisfies the JSON Schema below, and nothing else: no words before or after it, no code fence. Until then work, and call tools, as you like.\n\n${JSON.stringify(schema)}`,
    problem: (answer) => problemOf(answer, validate),
  }
}

function parse(text: string, path: string): boolean | Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value))) return value as Record<string, unknown>
  } catch (error) {
    throw noSchema(path, `not JSON: ${(error as Error).message}`)
  }
  throw noSchema(path, 'expected a JSON object')
}

async function compile(schema: boolean | Record<string, unknown>, path: string): Promise<ValidateFunction> {
  const dialect = typeof schema === 'object' ? schema.$schema : undefined
  const { Ajv } = isDraft07(dialect) ? await import('ajv') : { Ajv: (await import('ajv/dist/2020.js')).Ajv2020 }
  try {
    return new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema)
  } catch (error) {
    throw noSchema(path, reason(error))
  }
}

function isDraft07(dialect: unknown): boolean {
  return typeof dialect === 'string' && dialect.includes('draft-07')
}

function noSchema(path: string, why: string): StageError {
  return new StageError(EXIT.CONFIG, `--output-schema ${path} is no JSON Schema: ${printable(why.slice(0, 300))}`)
}

function problemOf(answer: string, validate: ValidateFunction): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(answer)
  } catch (error) {
    const fenced = answer.trimStart().startsWith('```') ? '; it stands in a code fence' : ''
    return `it is not JSON: ${clip((error as Error).message)}${fenced}`
  }
  if (validate(value)) return undefined
  const errors = validate.errors ?? []
  const more = errors.length > MOST_ERRORS ? `; and ${errors.length - MOST_ERRORS} more` : ''
  return `${errors.slice(0, MOST_ERRORS).map(describe).join('; ')}${more}`
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const { allowedValues, additionalProperty } = params as { allowedValues?: unknown; additionalProperty?: string }
  const detail = allowedValues ?? additionalProperty
  return clip(`${instancePath || 'the whole'} ${message}${detail === undefined ? '' : `: ${JSON.stringify(detail)}`}`)
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > LONGEST_ERROR ? `${line.slice(0, LONGEST_ERROR)}...` : line
}
