import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { EXIT, reason, StageError } from './exit-status.js'

/** A stage's part of the config file: option names and their values. */
export type Config = Readonly<Record<string, unknown>>

/** Where the config file is: AGENTPIPE_CONFIG, else agentpipe/config.json in the user's XDG config directory. */
export function configPath(): string {
  return process.env.AGENTPIPE_CONFIG || join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'agentpipe', 'config.json')
}

/**
 * What the config file says for `stage`: `{ "resp-render": { "width": 100 } }`. Nothing where there is no such file.
 * Throws StageError (78) when it can't be read or is not of that form.
 */
export function readConfig(stage: string): Config {
  const path = configPath()
  const stages = parse(path)
  const config = stages[stage] ?? {}
  if (!isObject(config)) throw new StageError(EXIT.CONFIG, `config file ${path}: "${stage}" is not an object`)
  return config
}

function parse(path: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return {}
    throw new StageError(EXIT.CONFIG, `config file ${path}: ${reason(error)}`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new StageError(EXIT.CONFIG, `config file ${path}: ${(error as Error).message}`)
  }
  throw new StageError(EXIT.CONFIG, `config file ${path}: expected a JSON object`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
