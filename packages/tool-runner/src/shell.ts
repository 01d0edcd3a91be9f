import { readFile, unlink, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { programPath } from './programs.js'
import type { TemporaryDirectory } from './temporary-directory.js'

/** One argument of a program is at most 128 KiB (MAX_ARG_STRLEN of Linux); a longer command goes by a file. */
const LONGEST_ARGUMENT = 100_000

/** A command made ready for the shell. */
export interface ShellCommand {
  readonly file: string
  readonly args: readonly string[]
  /** The directory that the shell was in when it ended, or undefined if it didn't say. To be called once, when it has ended. */
  directory(): Promise<string | undefined>
}

/**
 * `command` for bash, where there is none for sh. It is run by `eval`, so that its lines have their own numbers in messages; a trap that it may
 * replace tells where it was in the end.
 */
export async function shellCommand(command: string, temporary: TemporaryDirectory): Promise<ShellCommand> {
  const directoryFile = await temporary.path('directory')
  const trap = `trap ${quote(`2>/dev/null pwd -P >${quote(directoryFile)}`)} EXIT`
  const inline = quote(command)
  const commandFile = Buffer.byteLength(inline) > LONGEST_ARGUMENT ? await temporary.path('command') : undefined
  if (commandFile !== undefined) await writeFile(commandFile, command, { mode: 0o600 })
  const text = commandFile === undefined ? inline : `"$(cat ${quote(commandFile)})"`
  // A command that begins with "-" must not be an option of eval.
  const blank = command.startsWith('-') ? "' '" : ''
  const file = programPath('bash') ?? '/bin/sh'
  return {
    file,
    args: ['-c', `${trap}; eval ${blank}${text}`, basename(file)],
    async directory() {
      const directory = await readFile(directoryFile, 'utf8').catch(() => '')
      await Promise.all([directoryFile, ...(commandFile === undefined ? [] : [commandFile])].map((path) => unlink(path).catch(() => {})))
      return directory.replace(/\n$/, '') || undefined
    },
  }
}

/** One word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
