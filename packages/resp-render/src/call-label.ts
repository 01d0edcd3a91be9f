import type { Frame } from '@agentpipe/frame'
import { parseObject } from '@agentpipe/message'
import { oneLine } from './invisible.js'

/** A tool call in a line: the tool, and what it does. */
export interface CallLabel {
  readonly name: string
  readonly what: string
}

type Input = Readonly<Record<string, unknown>>

/** An input larger than this is not read as JSON: what it says stands in its repeated members too. */
const LARGEST_INPUT = 1024 * 1024
const LONGEST_NAME = 80
const LONGEST_VALUE = 60

/** How the calls of tools that are known are told. Other tools' calls are told by all their members. */
const SENTENCES: Readonly<Record<string, (input: Input) => string>> = {
  Bash: ({ command }) => text(command),
  Read: (input) => `${path(input)}${lineRange(input)}`,
  Write: path,
  Edit: (input) => `${path(input)}${input.replace_all === true ? '  every occurrence' : ''}`,
  Glob: ({ pattern, path }) => `${text(pattern)}${inside(path)}`,
  Grep: ({ pattern, path, glob }) => `${text(pattern)}${inside(path)}${glob === undefined ? '' : `  ${text(glob)}`}`,
  Skill: ({ name }) => text(name),
  WebFetch: ({ url }) => text(url),
  TodoWrite: ({ todos }) => (Array.isArray(todos) ? `${todos.filter((todo) => todo?.status === 'completed').length} of ${todos.length} done` : ''),
  SubAgent: ({ description, prompt }) => text(description ?? prompt),
}

/** The label of a TOOL_CALL, safe to print: from its input, which is what the runner acts on. */
export function callLabel(frame: Frame): CallLabel {
  const name = oneLine(frame.field(1), LONGEST_NAME)
  const input = inputOf(frame)
  if (input === undefined) return { name, what: oneLine(frame.field(3)) }
  const sentence = Object.hasOwn(SENTENCES, name) ? SENTENCES[name]?.(input) : undefined
  return { name, what: sentence?.trim() || everyMember(input) }
}

function inputOf(frame: Frame): Input | undefined {
  const json = frame.field(3) as Buffer
  if (json.length <= LARGEST_INPUT) return parseObject(json.toString())
  const members: Record<string, string> = {}
  for (let index = 4; index + 1 < frame.count; index += 2) members[oneLine(frame.field(index))] = oneLine(frame.field(index + 1))
  return members
}

function text(value: unknown): string {
  return value === undefined ? '' : oneLine(asText(value))
}

function path({ path, file_path }: Input): string {
  return text(path ?? file_path)
}

function inside(path: unknown): string {
  return path === undefined ? '' : `  in ${text(path)}`
}

/** `:10-19` for a part of a file. */
function lineRange({ offset, limit }: Input): string {
  if (!Number.isSafeInteger(offset) && !Number.isSafeInteger(limit)) return ''
  const start = Number.isSafeInteger(offset) ? Number(offset) : 1
  return Number.isSafeInteger(limit) ? `:${start}-${start + Number(limit) - 1}` : `:${start}-`
}

function everyMember(input: Input): string {
  const members = Object.entries(input).map(([key, value]) => `${key}=${oneLine(asText(value), LONGEST_VALUE)}`)
  return oneLine(members.join('  '))
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse takes any depth, JSON.stringify runs out of stack.
    return '…'
  }
}
