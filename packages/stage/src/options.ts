import parse from 'yargs-parser'
import { type Config, configPath, readConfig, unknownKey } from './config.js'
import { diagnosticsOf } from './diagnostics.js'
import { EXIT, StageError } from './exit-status.js'
import { nearest } from './nearest.js'
import type { OptionSpec, OptionTable, OptionValues } from './option-table.js'
import { optionValue } from './option-value.js'

export interface ParsedOptions<Table extends OptionTable> {
  readonly options: OptionValues<Table>
  /** The options that the command line gave, by name. */
  readonly given: ReadonlySet<string>
  readonly operands: readonly string[]
}

export interface Parsing {
  /** Nothing behind the first operand is an option. */
  readonly operandsEndOptions?: boolean | undefined
  /** The options that the stage's part of the config file may have: those of all its verbs. */
  readonly configurable?: readonly string[]
}

/**
 * The options of a command line, as GNU programs take them: `--name value`, `--name=value`, unique abbreviations, `--` ends
 * them; the last of several counts. What the command line leaves out comes from the environment
 * (AGENTPIPE_<STAGE>_<OPTION>), then from the config file, then from the table. Throws StageError: 64, or 78 for the config file.
 */
export function parseOptions<Table extends OptionTable>(
  stage: string,
  table: Table,
  argv: readonly string[],
  { operandsEndOptions = false, configurable = Object.keys(table) }: Parsing = {},
): ParsedOptions<Table> {
  const parsed = parse(normalise(table, argv, operandsEndOptions), {
    string: names(table, (spec) => spec.type !== 'flag'),
    boolean: names(table, (spec) => spec.type === 'flag'),
    alias: Object.fromEntries(Object.entries(table).flatMap(([name, { short }]) => (short === undefined ? [] : [[name, short]]))),
    configuration: {
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'duplicate-arguments-array': true,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
      'halt-at-non-option': operandsEndOptions,
      'strip-aliased': true,
    },
  }) as Record<string, unknown> & { _: string[]; '--'?: string[] }
  refuseUnknown(table, parsed)
  const given = new Set(Object.keys(table).filter((name) => parsed[name] !== undefined && parsed[name] !== false))
  const config = Object.keys(table).length === given.size ? {} : configOf(stage, configurable)
  const options = Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [name, given.has(name) ? fromFlag(name, spec, parsed[name]) : fromElsewhere(stage, name, spec, config)]),
  )
  return { options: options as OptionValues<Table>, given, operands: [...parsed._, ...(parsed['--'] ?? [])] }
}

/** The stage's part of the config file. What is there and means nothing is told on stderr, and does no harm. */
function configOf(stage: string, known: readonly string[]): Config {
  const warn = diagnosticsOf(stage)
  const config = readConfig(stage, warn)
  for (const [name, value] of Object.entries(config)) {
    // No option has an object as its value: those are a stage's own, like the profiles of agent-loop.
    const own = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!own && !known.includes(name)) warn(unknownKey(configPath(), name, `option "${name}" of ${stage}`, known))
  }
  return config
}

/** The environment variable of an option: AGENTPIPE_RESP_RENDER_WIDTH. */
export function environmentName(stage: string, option: string): string {
  return `AGENTPIPE_${stage}_${option}`.toUpperCase().replaceAll('-', '_')
}

/** `-` is one, by custom stdin. */
export function isOperand(word: string): boolean {
  return word === '-' || !word.startsWith('-')
}

/** Abbreviated names written out, and values joined to their option, so that a value may begin with `-`. */
function normalise(table: OptionTable, argv: readonly string[], operandsEndOptions: boolean): string[] {
  const words: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string
    if (word === '--' || (operandsEndOptions && isOperand(word))) return [...words, ...argv.slice(index)]
    const spec = optionOf(table, word)
    if (spec === undefined) {
      words.push(word)
      continue
    }
    const [name, inline] = spec
    const { type, optionalValue } = table[name] as OptionSpec
    if (type === 'flag') {
      if (inline !== undefined) throw usage(`--${name} takes no value`)
      words.push(`--${name}`)
    } else if (inline !== undefined || optionalValue) {
      words.push(joined(name, inline ?? ''))
    } else {
      const value = argv[++index]
      if (value === undefined) throw usage(`--${name} needs a value`)
      words.push(joined(name, value))
    }
  }
  return words
}

/** yargs-parser takes a pair of quotes off a value that is joined to its option: it gets one of ours to take. */
function joined(name: string, value: string): string {
  return `--${name}="${value}"`
}

/** The table's name for a word like `--wid=80` or `-v`, and the value joined to it; undefined for an operand. */
function optionOf(table: OptionTable, word: string): [name: string, inline: string | undefined] | undefined {
  if (isOperand(word)) return undefined
  if (!word.startsWith('--')) {
    const found = Object.entries(table).find(([, { short }]) => short !== undefined && word === `-${short}`)
    if (found === undefined) throw usage(`there is no option ${word}; see --help`)
    return [found[0], undefined]
  }
  const equals = word.indexOf('=')
  const given = word.slice(2, equals < 0 ? undefined : equals)
  const inline = equals < 0 ? undefined : word.slice(equals + 1)
  const matches = Object.hasOwn(table, given) ? [given] : Object.keys(table).filter((name) => name.startsWith(given))
  if (matches.length === 0) throw noOption(table, given)
  if (matches.length > 1) throw usage(`--${given} may be ${matches.map((name) => `--${name}`).join(' or ')}`)
  return [matches[0] as string, inline]
}

function refuseUnknown(table: OptionTable, parsed: Record<string, unknown>): void {
  const unknown = Object.keys(parsed).find((name) => name !== '_' && name !== '--' && !Object.hasOwn(table, name))
  if (unknown !== undefined) throw noOption(table, unknown)
}

function noOption(table: OptionTable, given: string): StageError {
  const meant = nearest(given, Object.keys(table))
  return usage(`there is no option --${given}; ${meant === undefined ? 'see --help' : `did you mean --${meant}?`}`)
}

function names(table: OptionTable, which: (spec: OptionSpec) => boolean): string[] {
  return Object.keys(table).filter((name) => which(table[name] as OptionSpec))
}

function fromFlag(name: string, spec: OptionSpec, value: unknown): unknown {
  if (spec.type === 'flag') return true
  const texts = [value].flat().map(String)
  if (spec.type === 'list') return texts
  const text = texts.at(-1) as string
  return convert(spec, text, (problem) => usage(`--${name}: ${problem}, found ${JSON.stringify(text)}`))
}

function fromElsewhere(stage: string, name: string, spec: OptionSpec, config: Config): unknown {
  for (const variable of [environmentName(stage, name), ...(spec.environment ?? [])]) {
    const text = process.env[variable]
    if (text !== undefined && text !== '') return fromEnvironment(variable, spec, text)
  }
  const value = config[name]
  if (value !== undefined) return fromConfig(stage, name, spec, value)
  if (spec.type === 'flag') return false
  if (spec.type === 'list') return []
  return spec.default
}

function fromEnvironment(variable: string, spec: OptionSpec, text: string): unknown {
  if (spec.type === 'flag') return text !== '0' && text !== 'false'
  if (spec.type === 'list') return text.split('\n').filter((line) => line !== '')
  return convert(spec, text, (problem) => usage(`${variable}: ${problem}, found ${JSON.stringify(text)}`))
}

function fromConfig(stage: string, name: string, spec: OptionSpec, value: unknown): unknown {
  const wrong = (problem: string) => new StageError(EXIT.CONFIG, `config file ${configPath()}: ${stage}.${name}: ${problem}, found ${JSON.stringify(value)}`)
  if (spec.type === 'flag') {
    if (typeof value !== 'boolean') throw wrong('expected true or false')
    return value
  }
  if (spec.type === 'list') {
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw wrong('expected an array of strings')
    return value
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong('expected a string or a number')
  return convert(spec, String(value), wrong)
}

function convert(spec: OptionSpec, text: string, wrong: (problem: string) => StageError): string | number {
  try {
    return optionValue(spec, text)
  } catch (error) {
    throw wrong((error as Error).message)
  }
}

/** The error of a wrong command line. */
export function usage(message: string): StageError {
  return new StageError(EXIT.USAGE, message)
}
