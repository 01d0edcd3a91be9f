import { execa } from 'execa'
import { root } from './paths.js'

/** How a process ended, and what it printed. */
export interface Ended {
  /** Exit status; undefined when a signal ended it. */
  readonly status: number | undefined
  readonly signal: string | undefined
  readonly stdout: Buffer
  readonly stderr: string
  readonly timedOut: boolean
}

export interface RunOptions {
  /** What it reads on stdin; nothing if left out. */
  readonly input?: string | Uint8Array
  readonly cwd?: string
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** After this many milliseconds it is killed, as it hangs: long, as machines are busy. */
  readonly timeout?: number
}

/** The environment of tests: our executables first in PATH, no home directory and none that could be made, and nothing of the user’s own configuration or keys, nor certificates that cost each Node 60 ms. */
export function testEnvironment(extra: RunOptions['env'] = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AGENTPIPE_|XDG_|ANTHROPIC_|OPENAI_|GEMINI_|GOOGLE_|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|TAP_|NO_COLOR|FORCE_COLOR|COLORTERM)/.test(name),
  )
  const all = {
    ...Object.fromEntries(inherited),
    PATH: `${root}/dist/bin:${process.env.PATH}`,
    HOME: '/dev/null/home',
    AGENTPIPE_CONFIG: '/dev/null',
    ...extra,
  }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Runs a program to its end. Never throws for how it ended. */
export async function run(command: string, args: readonly string[] = [], { input = '', cwd, env, timeout = 120_000 }: RunOptions = {}): Promise<Ended> {
  const environment = testEnvironment(env)
  const result = await execa(command, args, {
    input,
    env: environment,
    extendEnv: false,
    ...(cwd === undefined ? {} : { cwd }),
    encoding: 'buffer',
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 1024 ** 3,
    timeout,
    killSignal: 'SIGKILL',
  })
  return {
    status: result.exitCode,
    signal: result.signal,
    stdout: Buffer.from(result.stdout ?? []),
    stderr: Buffer.from(result.stderr ?? []).toString(),
    timedOut: result.timedOut,
  }
}

/** Runs a line of bash, `$1` ... being `args`: for pipelines as people type them. */
export function shell(line: string, args: readonly string[] = [], options: RunOptions = {}): Promise<Ended> {
  return run('bash', ['-c', line, 'bash', ...args], options)
}
