import type { Context } from './command.js'
import { configPath, readConfig } from './config.js'
import { EXIT, StageError } from './exit-status.js'
import type { OptionSpec, OptionTable, OptionValues } from './option-table.js'
import { optionValue } from './option-value.js'

/**
 * The options of a stage, with those of a set that the config file has under a name, and that one of its options names: with --profile local, and `profiles`
 * for `key`, `{"agent-loop": {"profiles": {"local": {"model": "..."}}}}`. What the command line gives goes before the set, and that before the environment and
 * the rest of the config file. Throws StageError (78) for a set that is not there or means nothing.
 */
export function withNamedOptions<Table extends OptionTable>(
  { name: stage, options, given }: Pick<Context<Table>, 'name' | 'options' | 'given'>,
  table: Table,
  { option, key }: { readonly option: string & keyof Table; readonly key: string },
): OptionValues<Table> {
  const name = options[option] as string | undefined
  if (name === undefined) return options
  const sets = readConfig(stage)[key]
  const set = isObject(sets) && Object.hasOwn(sets, name) ? sets[name] : undefined
  if (!isObject(set)) {
    const there = isObject(sets) && Object.keys(sets).length > 0 ? `there are ${Object.keys(sets).join(', ')}` : `${configPath()} has no ${stage}.${key}`
    throw wrong(`there is no ${option} ${JSON.stringify(name)}: ${there}`)
  }
  const values = Object.entries(set)
    .filter(([each]) => !given.has(each))
    .map(([each, value]) => [
      each,
      checkedValue(`config file ${configPath()}: ${stage}.${key}.${name}.${each}`, each === option ? undefined : own(table, each), value),
    ])
  return { ...options, ...Object.fromEntries(values) }
}

function own(table: OptionTable, name: string): OptionSpec | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

function checkedValue(where: string, spec: OptionSpec | undefined, value: unknown): unknown {
  if (spec === undefined) throw wrong(`${where}: there is no such option`)
  const expected = (what: string) => wrong(`${where}: expected ${what}, found ${JSON.stringify(value)}`)
  if (spec.type === 'flag') {
    if (typeof value !== 'boolean') throw expected('true or false')
    return value
  }
  if (spec.type === 'list') {
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw expected('an array of strings')
    return value
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw expected('a string or a number')
  try {
    return optionValue(spec, String(value))
  } catch (error) {
    throw wrong(`${where}: ${(error as Error).message}, found ${JSON.stringify(value)}`)
  }
}

function wrong(message: string): StageError {
  return new StageError(EXIT.CONFIG, message)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
