import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { isSessionId, SESSION_ID_FORM } from '@agentpipe/message'
import { EXIT, type OptionSpec, type OptionTable, readAll, StageError, systemError } from '@agentpipe/stage'

/** Bytes of a list at most: a device may never end. */
const LARGEST = 256 * 1024 * 1024

/** One thing to be done. */
export interface Item {
  /** Of its line, from 1. */
  readonly line: number
  /** The same for the same line, wherever it stands; lines that are alike are told apart by their order. */
  readonly key: string
  readonly prompt: string
  readonly session: string | undefined
  readonly cwd: string | undefined
  /** Options of agentpipe for this one. */
  readonly options: readonly string[]
}

/** The items of a file, `-` for standard input: a prompt a line, or a JSON object. Blank lines are none. Throws StageError: 66, or 65 with the line. */
export function readItems(file: string, table: OptionTable): Item[] {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(file))
  } catch (error) {
    if (error instanceof StageError) throw error
    if (error instanceof TypeError && !('syscall' in error)) throw new StageError(EXIT.DATA, `${file}: not UTF-8`)
    throw systemError(EXIT.NO_INPUT, `cannot read ${file}`, error)
  }
  const times = new Map<string, number>()
  const sessions = new Set<string>()
  return text.split('\n').flatMap((whole, index) => {
    const line = whole.replace(/\r$/, '')
    if (line.trim() === '') return []
    const time = (times.get(line) ?? 0) + 1
    times.set(line, time)
    const fail = (problem: string) => new StageError(EXIT.DATA, `${file}: line ${index + 1}: ${problem}`)
    const item = { line: index + 1, key: keyOf(line, time), ...(line.startsWith('{') ? fromObject(line, table, fail) : plain(line)) }
    if (item.prompt.includes('\0')) throw fail('the prompt holds a NUL byte: it must be text')
    if (item.session !== undefined && sessions.has(item.session)) throw fail(`session ${item.session} is another line's as well`)
    if (item.session !== undefined) sessions.add(item.session)
    return [item]
  })
}

function bytesOf(file: string): Buffer {
  const descriptor = file === '-' ? 0 : openSync(file, 'r')
  try {
    const bytes = readAll(descriptor, LARGEST + 1)
    if (bytes.length > LARGEST) throw new StageError(EXIT.DATA, `${file}: longer than ${LARGEST / 1024 / 1024} MiB`)
    return bytes
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}

function plain(prompt: string) {
  return { prompt, session: undefined, cwd: undefined, options: [] }
}

function keyOf(line: string, time: number): string {
  return createHash('sha256').update(`${time} ${line}`).digest('hex').slice(0, 16)
}

function fromObject(line: string, table: OptionTable, fail: (problem: string) => StageError) {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw fail(`not JSON: ${(error as Error).message}; a prompt that begins with { goes into an object: {"prompt": "..."}`)
  }
  const { prompt, session, cwd, ...others } = value
  if (typeof prompt !== 'string' || prompt.trim() === '') throw fail('expected the member "prompt", a text')
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd === '')) throw fail('"cwd": expected the path of a directory')
  if (session !== undefined && (typeof session !== 'string' || !isSessionId(session))) throw fail(`"session": expected ${SESSION_ID_FORM}`)
  const options = Object.entries(others).flatMap(([name, given]) => optionWords(name, Object.hasOwn(table, name) ? table[name] : undefined, given, fail))
  return { prompt, session, cwd, options }
}

function optionWords(name: string, spec: OptionSpec | undefined, value: unknown, fail: (problem: string) => StageError): string[] {
  if (spec === undefined) throw fail(`there is no member ${JSON.stringify(name)}: prompt, session, cwd, and options like model and mode`)
  if (spec.type === 'flag') {
    if (typeof value !== 'boolean') throw fail(`${JSON.stringify(name)}: expected true or false`)
    return value ? [`--${name}`] : []
  }
  const values = Array.isArray(value) && spec.type === 'list' ? value : [value]
  return values.map((each) => {
    if (typeof each !== 'string' && typeof each !== 'number')
      throw fail(`${JSON.stringify(name)}: expected a text${spec.type === 'list' ? ', or an array of them' : ''}`)
    return `--${name}=${each}`
  })
}
