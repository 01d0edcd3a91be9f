import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { isatty, WriteStream } from 'node:tty'
import { reason, STDOUT, sessionsDirectory, VERSION } from '@agentpipe/stage'

/** One thing that was looked at. `hint`: it goes without; `problem`: there is little use without; `fatal`: nothing runs. */
export interface Finding {
  readonly what: string
  readonly state: 'ok' | 'hint' | 'problem' | 'fatal'
  readonly found: string
  /** What to do about it. */
  readonly todo?: string
}

const EXECUTABLES = ['agentpipe', 'agent-loop', 'tool-runner', 'sub-agent', 'event-store', 'resp-render', 'resp', 'user-prompt']
const KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY']
const LEAST_NODE = [20, 19] as const
const PATIENCE_MS = 10_000

/** Everything, in the order in which it matters. `config` throws where the config file is wrong. */
export async function findings(config: () => void): Promise<Finding[]> {
  const others = await Promise.all([stages(), ripgrep(), sandbox(), git()])
  return [node(), ...(others[0] ?? []), configuration(config), state(), keys(), ...others.slice(1).flat(), terminal(), locale()]
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const old = major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1])
  return { what: 'node', state: old ? 'fatal' : 'ok', found: process.version, ...(old ? { todo: `install Node ${LEAST_NODE.join('.')} or newer` } : {}) }
}

async function stages(): Promise<Finding[]> {
  return Promise.all(
    EXECUTABLES.map(async (name): Promise<Finding> => {
      const ours = join(dirname(realpathSync(process.argv[1] as string)), name)
      const said = await run(ours, ['--version'])
      if (said === undefined) return { what: name, state: 'fatal', found: `${ours} does not run`, todo: 'install agentpipe again' }
      const version = said.split(' ').at(-1) as string
      if (version !== VERSION) return { what: name, state: 'fatal', found: `${ours} is ${version}, agentpipe ${VERSION}`, todo: 'install agentpipe again' }
      const first = onPath(name)
      if (first === undefined) return { what: name, state: 'hint', found: `${version}, not in PATH`, todo: `add ${dirname(ours)} to PATH to use it by hand` }
      const other = realpathSync(first) === realpathSync(ours) ? VERSION : (await run(first, ['--version']))?.split(' ').at(-1)
      if (other === VERSION) return { what: name, state: 'ok', found: version }
      return { what: name, state: 'problem', found: `${first}, first in PATH, is ${other ?? 'something else'}`, todo: `put ${dirname(ours)} in front of it` }
    }),
  )
}

function configuration(read: () => void): Finding {
  try {
    read()
    return { what: 'config', state: 'ok', found: 'can be read, or there is none' }
  } catch (error) {
    return { what: 'config', state: 'fatal', found: reason(error), todo: 'mend it' }
  }
}

/** Where sessions go, or the nearest directory above that there is. */
function state(): Finding {
  const directory = sessionsDirectory()
  let there = directory
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
    return { what: 'sessions', state: 'ok', found: directory }
  } catch {
    return { what: 'sessions', state: 'fatal', found: `${there} can not be written`, todo: 'change its permissions, or set XDG_STATE_HOME' }
  }
}

/** Names, never values. */
function keys(): Finding {
  const set = KEYS.filter((name) => process.env[name])
  if (set.length > 0) return { what: 'keys', state: 'ok', found: set.join(', ') }
  return {
    what: 'keys',
    state: 'problem',
    found: 'none in the environment',
    todo: `set ${KEYS.slice(0, 3).join(', ')}, or give --key-file or --key-command; --base-url of a server of your own may need none`,
  }
}

async function ripgrep(): Promise<Finding[]> {
  const own = join(dirname(realpathSync(process.argv[1] as string)), 'rg')
  const said = (await run('rg', ['--version'])) ?? (await run(own, ['--version']))
  if (said === undefined) return [{ what: 'ripgrep', state: 'problem', found: 'none that runs', todo: 'install ripgrep: Grep and Glob need it' }]
  return [{ what: 'ripgrep', state: 'ok', found: said.split('\n')[0] as string }]
}

async function sandbox(): Promise<Finding[]> {
  if ((await run('bwrap', ['--version'])) === undefined) {
    return [{ what: 'sandbox', state: 'hint', found: 'no bwrap', todo: 'install bubblewrap to confine commands' }]
  }
  const works = (await run('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--proc', '/proc', '--dev', '/dev', 'true'])) !== undefined
  if (works) return [{ what: 'sandbox', state: 'ok', found: 'bwrap works' }]
  return [{ what: 'sandbox', state: 'hint', found: 'bwrap can not make a sandbox here', todo: 'allow unprivileged user namespaces, or go without' }]
}

async function git(): Promise<Finding[]> {
  const said = await run('git', ['--version'])
  if (said === undefined) return [{ what: 'git', state: 'hint', found: 'none', todo: 'install git for batch --worktree' }]
  return [{ what: 'git', state: 'ok', found: said.replace(/^git version /, '') }]
}

function terminal(): Finding {
  if (!isatty(STDOUT)) return { what: 'terminal', state: 'ok', found: 'standard output is none' }
  const screen = new WriteStream(STDOUT)
  const found = `${process.env.TERM ?? 'TERM is not set'}, ${2 ** screen.getColorDepth()} colours, ${screen.columns} columns`
  if (process.env.TERM === undefined || process.env.TERM === 'dumb')
    return { what: 'terminal', state: 'hint', found, todo: 'set TERM to what your terminal is' }
  return { what: 'terminal', state: screen.columns < 40 ? 'hint' : 'ok', found, ...(screen.columns < 40 ? { todo: 'make it wider' } : {}) }
}

function locale(): Finding {
  const name = process.env.LC_ALL || process.env.LC_CTYPE || process.env.LANG || ''
  if (/utf-?8/i.test(name)) return { what: 'locale', state: 'ok', found: name }
  return { what: 'locale', state: 'hint', found: name === '' ? 'none is set' : name, todo: 'set LANG to one of UTF-8, as C.UTF-8: the terminal gets UTF-8' }
}

function onPath(name: string): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory || '.', name))
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** What a program prints, without blanks around it; undefined where it can't be started or fails. */
function run(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: PATIENCE_MS, killSignal: 'SIGKILL' }, (error, stdout) => resolve(error ? undefined : stdout.trim()))
  })
}
