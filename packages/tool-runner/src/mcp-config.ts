import { readFileSync } from 'node:fs'
import { EXIT, reason, StageError } from '@agentpipe/stage'

/** An MCP server as a file of `mcpServers` has it: a program that speaks on its standard streams, or an address. */
export type McpEntry = { readonly name: string; readonly timeoutMs: number | undefined } & (McpProgram | McpAddress)

export interface McpProgram {
  readonly kind: 'program'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface McpAddress {
  readonly kind: 'address'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The older transport, two connections, which is tried as well where the file doesn't say. */
  readonly sse: boolean | undefined
}

type Members = Readonly<Record<string, unknown>>

/**
 * The servers in a file of the usual form, `{"mcpServers": {"NAME": {"command", "args", "env"} or {"url", "headers"}}}`; those with `"disabled": true` are left
 * out. Throws StageError (78), which says where it is wrong.
 */
export function mcpEntries(path: string): readonly McpEntry[] {
  const wrong = (problem: string) => new StageError(EXIT.CONFIG, `--mcp ${path}: ${problem}`)
  const { mcpServers, servers } = parse(path, wrong)
  const all = mcpServers ?? servers
  if (!isObject(all)) throw wrong('it has no object "mcpServers"')
  return Object.entries(all).flatMap(([name, value]) => {
    const problem = (text: string) => wrong(`server ${JSON.stringify(name)}: ${text}`)
    if (!isObject(value)) throw problem('expected an object')
    return value.disabled === true ? [] : [entryOf(name, value, problem)]
  })
}

function entryOf(name: string, value: Members, problem: (text: string) => Error): McpEntry {
  const { command, url, type, timeout } = value
  const timeoutMs = typeof timeout === 'number' && timeout > 0 ? timeout : undefined
  const texts = (member: string): Record<string, string> => {
    const given = value[member] ?? {}
    if (!isObject(given)) throw problem(`${member} must be an object of texts`)
    return Object.fromEntries(Object.entries(given).map(([key, each]) => [key, String(each)]))
  }
  if (typeof command === 'string' && command !== '') {
    const { args = [], cwd } = value
    if (!Array.isArray(args)) throw problem('args must be an array of texts')
    return { name, timeoutMs, kind: 'program', command, args: args.map(String), env: texts('env'), cwd: typeof cwd === 'string' ? cwd : undefined }
  }
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) throw problem('it needs a command, or a url that begins with http:// or https://')
  return { name, timeoutMs, kind: 'address', url, headers: texts('headers'), sse: type === undefined ? undefined : type === 'sse' }
}

/** A text with `${NAME}` and `${NAME:-default}` replaced by variables. Throws an Error that names one that isn't set. */
export function withVariables(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = environment[name] || otherwise
    if (value === undefined) throw new Error(`the variable ${name} is not set; names that look like keys are set only with --env ${name}`)
    return value
  })
}

function parse(path: string, wrong: (problem: string) => Error): Members {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isObject(value)) return value
  } catch (error) {
    throw wrong(error instanceof SyntaxError ? `not JSON: ${error.message}` : reason(error))
  }
  throw wrong('expected a JSON object')
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
