import { commandEnvironment } from './environment.js'
import { programBesideUs, programPath } from './programs.js'
import type { Session } from './session.js'
import { ToolError } from './tool-error.js'

/** Ours alone decide; hidden files count, git's own do not; ignore files count outside of git too. In order, whatever the number of threads. */
const ALWAYS = ['--no-config', '--hidden', '--glob=!.git', '--no-require-git', '--color=never', '--sort=path']
const STDERR_BYTES = 4096

export interface Search {
  readonly args: readonly string[]
  readonly cwd: string
  /** Bytes of output at most; ripgrep is ended when there is more. */
  readonly limit: number
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
}

export interface Found {
  /** Whole lines, without the last line end. */
  readonly lines: readonly string[]
  /** Whether there was more. */
  readonly cut: boolean
  /** What ripgrep complained about, if it found something all the same. */
  readonly complaint: string
}

/** Runs ripgrep: the system's, else the one that is installed with us. Throws ToolError with what it says when it fails. */
export async function ripgrep({ groups, sandbox }: Session, { args, cwd, limit, timeoutMs, signal }: Search): Promise<Found> {
  const rg = programPath('rg') ?? programBesideUs('rg')
  if (rg === undefined) throw new ToolError('there is no ripgrep: install rg, or use grep and find with Bash')
  if (signal.aborted) throw new ToolError('cancelled', 'cancelled')
  const { execa } = await import('execa')
  const program = await sandbox.reading(rg, [...ALWAYS, ...args], cwd)
  const child = execa(program.file, program.args, {
    cwd,
    env: commandEnvironment(cwd),
    extendEnv: false,
    stdin: 'ignore',
    maxBuffer: { stdout: limit, stderr: STDERR_BYTES },
    encoding: 'buffer',
    stripFinalNewline: false,
    detached: true,
    cleanup: false,
    reject: false,
    cancelSignal: signal,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  })
  const group = child.pid
  if (group !== undefined) groups.started(group)
  const result = await child
  if (group !== undefined) groups.ended(group)
  if (result.isCanceled) throw new ToolError('cancelled', 'cancelled')
  if (result.timedOut) throw new ToolError(`timed out after ${(timeoutMs ?? 0) / 1000} s`, 'timeout')
  const text = Buffer.from(result.stdout).toString()
  const complaint = Buffer.from(result.stderr).toString().trim()
  // 1: nothing found. 2: an error, be it only that one directory could not be read.
  if (!result.isMaxBuffer && result.exitCode !== 0 && result.exitCode !== 1 && text === '')
    throw new ToolError(complaint || result.shortMessage || 'ripgrep failed')
  // Ended by us in the middle of a line, it complains of that.
  return { ...wholeLines(text, result.isMaxBuffer), complaint: result.isMaxBuffer ? '' : complaint }
}

function wholeLines(text: string, cut: boolean): Pick<Found, 'lines' | 'cut'> {
  const lines = text.split('\n')
  // What follows the last line end is nothing, or a line cut short.
  lines.pop()
  return { lines, cut }
}
