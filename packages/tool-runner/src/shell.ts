import { closeSync, constants, openSync, readSync, unlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants as system } from 'node:os'
import { basename } from 'node:path'
import type { CommandEnd } from './command.js'
import { programPath } from './programs.js'
import type { TemporaryDirectory } from './temporary-directory.js'

/** One argument of a program is at most 128 KiB (MAX_ARG_STRLEN of Linux); a longer command goes by a file. */
const LONGEST_ARGUMENT = 100_000
/** More than the longest path. */
const LONGEST_REPORT = 8 * 1024

/** The shell, looked for once: a walk through PATH for every command would be felt. */
let bash: string | undefined

/** A command made ready for the shell. */
export interface ShellCommand {
  readonly file: string
  readonly args: readonly string[]
  /** The file in which the shell says how it ended. */
  readonly report: string
  /** What the shell said when it ended, or nothing. To be called once, when it has. */
  ended(): ShellReport
}

export interface ShellReport {
  /** Its exit status, unless a signal ended it. */
  readonly status: number | undefined
  /** The directory that it was in. */
  readonly directory: string | undefined
}

/**
 * `command` for bash, where there is none for sh. It is run by `eval`, so that its lines have their own numbers in messages; a trap that it may
 * replace tells how and where it ended.
 */
export async function shellCommand(command: string, temporary: TemporaryDirectory): Promise<ShellCommand> {
  const report = await temporary.path('report')
  const trap = `trap ${quote(`{ printf '%s ' "$?"; pwd -P; } 2>/dev/null >${quote(report)}`)} EXIT`
  const inline = quote(command)
  const commandFile = Buffer.byteLength(inline) > LONGEST_ARGUMENT ? await temporary.path('command') : undefined
  if (commandFile !== undefined) await writeFile(commandFile, command, { mode: 0o600 })
  const text = commandFile === undefined ? inline : `"$(cat ${quote(commandFile)})"`
  // A command that begins with "-" must not be an option of eval.
  const blank = command.startsWith('-') ? "' '" : ''
  bash ??= programPath('bash') ?? '/bin/sh'
  const file = bash
  return {
    file,
    args: ['-c', `${trap}; eval ${blank}${text}`, basename(file)],
    report,
    ended() {
      const said = readReport(report)
      remove(report)
      if (commandFile !== undefined) remove(commandFile)
      const [, status, directory] = /^(\d+) (\/[^\0]*)?\n?$/s.exec(said) ?? []
      return { status: status === undefined ? undefined : Number(status), directory: directory?.replace(/\n$/, '') }
    },
  }
}

/**
 * How a confined command ended. Bubblewrap gives 128 + n as exit status for what signal n has ended, as shells do; a shell that ended by itself has
 * reported that status. (Not one whose trap on EXIT the command has replaced, nor a program that it has become by `exec`: taken for ended by a signal.)
 */
export function endOfConfined(end: CommandEnd, { status }: ShellReport): CommandEnd {
  const { exitCode } = end
  if (exitCode === undefined || exitCode <= 128 || exitCode === status) return end
  const name = Object.entries(system.signals).find(([, number]) => number === exitCode - 128)?.[0]
  return name === undefined ? end : { ...end, exitCode: undefined, signal: name }
}

/** The command could have made anything of it. Synchronous: the thread pool would cost more than the work, for every command. */
function readReport(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const said = Buffer.alloc(LONGEST_REPORT)
      return said.toString('utf8', 0, readSync(file, said))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It never came to be, or the command has taken it away.
  }
}

/** One word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
