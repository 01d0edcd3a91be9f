import { type Context, EXIT, optionValue, readConfig, StageError } from '@agentpipe/stage'
import { OPTIONS, type Settings } from './options.js'

/**
 * The settings with those of the profile that --profile names: `{"agent-loop": {"profiles": {"local": {"model": "..."}}}}` in the config file. What the
 * command line gives goes before it, and it goes before the environment and the rest of the config file. Throws StageError (78).
 */
export function withProfile({ options, given }: Pick<Context<typeof OPTIONS>, 'options' | 'given'>): Settings {
  const name = options.profile
  if (name === undefined) return options
  const profiles = readConfig('agent-loop').profiles
  const names = isObject(profiles) ? Object.keys(profiles) : []
  const profile = isObject(profiles) && Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!isObject(profile)) {
    const there = names.length === 0 ? 'the config file has no agent-loop.profiles' : `there are ${names.join(', ')}`
    throw wrong(`there is no profile ${JSON.stringify(name)}: ${there}`)
  }
  const values = Object.entries(profile)
    .filter(([option]) => !given.has(option))
    .map(([option, value]) => [option, profileValue(name, option, value)])
  return { ...options, ...Object.fromEntries(values) }
}

function profileValue(profile: string, option: string, value: unknown): unknown {
  const spec = Object.hasOwn(OPTIONS, option) ? OPTIONS[option as keyof typeof OPTIONS] : undefined
  const where = `config file: agent-loop.profiles.${profile}.${option}`
  if (spec === undefined || option === 'profile') throw wrong(`${where}: there is no such option`)
  if (spec.type === 'flag') {
    if (typeof value !== 'boolean') throw wrong(`${where}: expected true or false, found ${JSON.stringify(value)}`)
    return value
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong(`${where}: expected a string or a number, found ${JSON.stringify(value)}`)
  try {
    return optionValue(spec, String(value))
  } catch (error) {
    throw wrong(`${where}: ${(error as Error).message}, found ${JSON.stringify(value)}`)
  }
}

function wrong(message: string): StageError {
  return new StageError(EXIT.CONFIG, message)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
