import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Stream } from './live-output.js'
import type { Pipes } from './pipes.js'
import type { ProcessGroups } from './process-groups.js'
import { ToolError } from './tool-error.js'

/** setTimeout takes no more: 24 days. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

export interface CommandSpec {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds, or undefined for no limit. */
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
  /** A descriptor for it to read; nothing if left out. */
  readonly stdin?: number
  /** Takes what is printed; gives a promise when the command should wait. */
  readonly sink: (chunk: Buffer, stream: Stream) => Promise<void> | undefined
}

/** How a command ended: by itself, or because we ended it. One of `exitCode` and `signal` is there. */
export interface CommandEnd {
  readonly cause: 'itself' | 'timeout' | 'cancelled'
  readonly exitCode: number | undefined
  readonly signal: string | undefined
}

interface Started {
  readonly group: number
  readonly exit: Promise<[number | null, string | null]>
}

/** Runs commands: each the leader of a session and process group of its own, without terminal. */
export class CommandRunner {
  readonly #groups: ProcessGroups
  readonly #pipes: Pipes

  constructor(groups: ProcessGroups, pipes: Pipes) {
    this.#groups = groups
    this.#pipes = pipes
  }

  /**
   * Runs a command to its end: that of the process itself, whoever still holds its pipes. At the time limit and when it is
   * cancelled its whole group is ended. Throws ToolError when it can't be started.
   */
  async run(spec: CommandSpec): Promise<CommandEnd> {
    const stdout = await this.#pipes.open()
    const stderr = await this.#pipes.open()
    try {
      if (spec.signal.aborted) return { cause: 'cancelled', exitCode: undefined, signal: undefined }
      const started = await this.#start(spec, stdout.writeEnd, stderr.writeEnd)
      stdout.start((chunk) => spec.sink(chunk, 'stdout'))
      stderr.start((chunk) => spec.sink(chunk, 'stderr'))
      const end = await this.#untilEnd(started, spec)
      await Promise.all([stdout.finish(), stderr.finish()])
      return end
    } finally {
      stdout.close()
      stderr.close()
    }
  }

  /** Runs a command whose output goes into a file that is open for writing, and gives its end to come. Throws ToolError when it can't be started. */
  async runInto(descriptor: number, spec: Omit<CommandSpec, 'sink'>): Promise<{ readonly ended: Promise<CommandEnd> }> {
    const started = await this.#start(spec, descriptor, descriptor)
    return { ended: this.#untilEnd(started, spec) }
  }

  async #start({ file, args, cwd, env, stdin }: Omit<CommandSpec, 'sink'>, stdout: number, stderr: number): Promise<Started> {
    const child = startProgram(file, args, { cwd, env, stdio: [stdin ?? 'ignore', stdout, stderr] })
    if (child.pid === undefined) throw new ToolError(`${file} can't be started: ${startProblem((await once(child, 'error'))[0])}`)
    return { group: child.pid, exit: once(child, 'exit') as Promise<[number | null, string | null]> }
  }

  async #untilEnd({ group, exit }: Started, { timeoutMs, signal }: Omit<CommandSpec, 'sink'>): Promise<CommandEnd> {
    this.#groups.started(group)
    let cause: CommandEnd['cause'] = 'itself'
    let ending: Promise<void> | undefined
    const end = (why: 'timeout' | 'cancelled') => {
      if (ending !== undefined) return
      cause = why
      ending = this.#groups.end(group)
    }
    const cancel = () => end('cancelled')
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), Math.min(timeoutMs, LONGEST_TIMEOUT_MS))
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    const [exitCode, killer] = await exit
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    await ending
    this.#groups.ended(group)
    return { cause, exitCode: exitCode ?? undefined, signal: killer ?? undefined }
  }
}

/** node:child_process, not execa: nothing of it is needed here, and the first command would wait for it. Throws ToolError. */
function startProgram(file: string, args: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'>): ChildProcess {
  try {
    return spawn(file, args, { ...options, detached: true })
  } catch (error) {
    throw new ToolError(`${file} can't be started: ${startProblem(error as NodeJS.ErrnoException)}`)
  }
}

function startProblem({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'E2BIG') return 'its arguments and environment are too long'
  return code === 'ENOENT' ? 'there is no such program' : message
}
