import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { EXIT, reason, StageError } from './exit-status.js'
import { nearest } from './nearest.js'

/** A stage's part of the config file: option names and their values. */
export type Config = Readonly<Record<string, unknown>>

/** The executables, each of which may have a part of the config file. */
const STAGES = ['agentpipe', 'agent-loop', 'tool-runner', 'sub-agent', 'event-store', 'resp-render', 'resp', 'user-prompt']

/** Where the config file is: AGENTPIPE_CONFIG, else agentpipe/config.json in the user's XDG config directory. */
export function configPath(): string {
  return process.env.AGENTPIPE_CONFIG || join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'agentpipe', 'config.json')
}

/**
 * What the config file says for `stage`: `{ "resp-render": { "width": 100 } }`. Nothing where it is empty, and where there is no such file, unless
 * AGENTPIPE_CONFIG names it. Parts that belong to no stage go to `warn`, in one line each. Throws StageError (78) when it can't be read or is not of that form.
 */
export function readConfig(stage: string, warn: (problem: string) => void = () => {}): Config {
  const path = configPath()
  const stages = parse(path)
  for (const name of Object.keys(stages)) if (isMine(name, stage)) warn(unknownKey(path, name, `stage "${name}"`, [...STAGES, stage]))
  const config = stages[stage] ?? {}
  if (!isObject(config)) throw new StageError(EXIT.CONFIG, `config file ${path}: "${stage}" is not an object`)
  return config
}

/** What is said of a key of the config file that means nothing. */
export function unknownKey(path: string, key: string, what: string, known: readonly string[]): string {
  const meant = nearest(key, known)
  return `config file ${path}: there is no ${what}${meant === undefined ? '' : `; did you mean "${meant}"?`}`
}

/** Of the many processes that read the file one says that a name is none: the one that was meant, else the head of the ring. */
function isMine(name: string, stage: string): boolean {
  if (name === stage || STAGES.includes(name)) return false
  return (nearest(name, [...STAGES, stage]) ?? 'agent-loop') === stage
}

function parse(path: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!process.env.AGENTPIPE_CONFIG && (code === 'ENOENT' || code === 'ENOTDIR')) return {}
    throw new StageError(EXIT.CONFIG, `config file ${path}: ${reason(error)}`)
  }
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new StageError(EXIT.CONFIG, `config file ${path}${place(text, error as Error)}: not JSON: ${problem(error as Error)}`)
  }
  throw new StageError(EXIT.CONFIG, `config file ${path}: expected a JSON object`)
}

/** `:3:7`, as compilers say line and column. */
function place(text: string, { message }: Error): string {
  const [, position] = /position (\d+)/.exec(message) ?? []
  const before = text.slice(0, position === undefined ? tokenAt(text) : Number(position)).split('\n')
  return `:${before.length}:${(before.at(-1) as string).length + 1}`
}

/** Where the token is that JSON.parse did not expect, for which it tells no position; else the end of the text. */
function tokenAt(text: string): number {
  let least = 0
  let most = text.trimEnd().length
  while (least < most) {
    const middle = (least + most) >> 1
    if (findsToken(text.slice(0, middle + 1))) most = middle
    else least = middle + 1
  }
  return least
}

function findsToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token')
  }
}

function problem({ message }: Error): string {
  const short = message.replace(/ (in JSON )?at position .*/s, '').replace(/, (\.\.\.|").* is not valid JSON$/s, '')
  return `${short.charAt(0).toLowerCase()}${short.slice(1)}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
