import { readFileSync, statSync } from 'node:fs'
import { type Diagnose, EXIT, StageError, systemError } from '@agentpipe/stage'
import type { Settings } from './options.js'

/** The variables that hold a provider's key, in the order in which they are looked for; the first that is set chooses the provider, too. */
export const KEY_VARIABLES: readonly (readonly [variable: string, provider: string])[] = [
  ['ANTHROPIC_API_KEY', 'anthropic'],
  ['ANTHROPIC_AUTH_TOKEN', 'anthropic'],
  ['OPENAI_API_KEY', 'openai'],
  ['GEMINI_API_KEY', 'google'],
  ['GOOGLE_API_KEY', 'google'],
]

const COMMAND_MS = 60_000
const LARGEST_BYTES = 64 * 1024

/**
 * The key for a provider's server: from --key-command, else from --key-file, else from the provider's variables. Undefined where there is
 * none. Throws StageError (78) when command or file give none.
 */
export async function findKey(provider: string, settings: Settings, diagnose: Diagnose): Promise<string | undefined> {
  const { 'key-command': command, 'key-file': file } = settings
  if (command !== undefined) return fromCommand(command)
  if (file !== undefined) return fromFile(file, diagnose)
  // The SDK of Anthropic sends a token in another way than a key, and looks for it itself.
  const variables = KEY_VARIABLES.filter(([variable, name]) => name === provider.replace(/-.*/, '') && variable !== 'ANTHROPIC_AUTH_TOKEN')
  return variables.map(([variable]) => process.env[variable]?.trim()).find((key) => key)
}

async function fromCommand(command: string): Promise<string> {
  const { execa } = await import('execa')
  const result = await execa('/bin/sh', ['-c', command], {
    stdin: 'ignore',
    stderr: 'inherit',
    timeout: COMMAND_MS,
    reject: false,
    maxBuffer: LARGEST_BYTES,
  })
  if (result.timedOut) throw none(`--key-command took more than ${COMMAND_MS / 1000} s`)
  if (result.failed) throw none(`--key-command failed with ${result.exitCode === undefined ? (result.signal ?? 'an error') : `status ${result.exitCode}`}`)
  return checked(result.stdout, '--key-command')
}

function fromFile(path: string, diagnose: Diagnose): string {
  try {
    const stats = statSync(path)
    if (stats.isDirectory() || stats.size > LARGEST_BYTES) throw none(`--key-file ${path}: no file with a key in it`)
    if (stats.isFile() && (stats.mode & 0o077) !== 0) diagnose(`--key-file ${path} can be read by others: chmod 600`)
    return checked(readFileSync(path, 'utf8'), `--key-file ${path}`)
  } catch (error) {
    if (error instanceof StageError) throw error
    throw systemError(EXIT.CONFIG, `--key-file ${path}`, error)
  }
}

/** The first line: password managers print more behind it. What can't stand in a header is no key. */
function checked(text: string, source: string): string {
  const key = text.split('\n', 1)[0]?.trim() ?? ''
  if (key === '') throw none(`${source} gives no key`)
  if (!/^[\x21-\x7e]+$/.test(key)) throw none(`${source} gives something that is no key: it has blanks or other characters that no key has`)
  return key
}

function none(message: string): StageError {
  return new StageError(EXIT.CONFIG, message)
}
