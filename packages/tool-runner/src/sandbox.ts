import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Diagnose, EXIT, StageError } from '@agentpipe/stage'
import type { CommandRunner } from './command.js'
import { isWithin } from './paths.js'
import { programPath } from './programs.js'
import { type Confinement, viewOptions } from './sandbox-view.js'
import type { ShellCommand } from './shell.js'

const PROBE_MS = 10_000

/**
 * Confines commands with bubblewrap. It is tried once, when it is first needed: it may be there and not work, where user namespaces are forbidden or in
 * most containers.
 */
export class Sandbox {
  readonly #kind: 'auto' | 'bwrap' | 'none'
  readonly #confinement: Confinement
  readonly #commands: CommandRunner
  readonly #diagnose: Diagnose
  #program: Promise<string | undefined> | undefined

  constructor(kind: 'auto' | 'bwrap' | 'none', confinement: Confinement, commands: CommandRunner, diagnose: Diagnose) {
    // Who says full to a mode means it.
    this.#kind = kind === 'auto' && confinement.mode === 'full' ? 'none' : kind
    this.#confinement = confinement
    this.#commands = commands
    this.#diagnose = diagnose
  }

  /** For the model: what commands can't do. */
  get about(): string {
    if (this.#kind === 'none' || this.#path === undefined) return ''
    const { mode, network, writable } = this.#confinement
    const files =
      mode === 'full'
        ? ''
        : mode === 'read-only'
          ? ' They write no files.'
          : ` They write in ${writable.join(' and ')} alone, but not in .git/hooks and .git/config.`
    const net = network ? '' : ' They have no network, not even to what another command serves.'
    return ` Commands are confined.${files}${net}`
  }

  /** Tries it where it must work. Throws StageError (78). */
  async demand(): Promise<void> {
    if (this.#kind === 'bwrap') await this.#tried()
  }

  /** The command as it is to be run: confined, or as it is. */
  async confined(shell: ShellCommand, directory: string): Promise<Pick<ShellCommand, 'file' | 'args'> & { readonly confined: boolean }> {
    const program = this.#kind === 'none' ? undefined : await this.#tried()
    if (program === undefined) return { file: shell.file, args: shell.args, confined: false }
    // Mounted one by one, it can't be replaced by a link that would have us read something else.
    await writeFile(shell.report, '', { flag: 'wx', mode: 0o600 })
    const ours = dirname(shell.report)
    const own = ['--ro-bind', ours, ours, '--bind', shell.report, shell.report, '--chdir', directory]
    return { file: program, args: [...this.#options(), ...own, '--', shell.file, ...shell.args], confined: true }
  }

  /** A program that only reads, as it is to be run: links that are put in its way while it runs lead it to no secret. */
  async reading(file: string, args: readonly string[], directory: string): Promise<Pick<ShellCommand, 'file' | 'args'>> {
    const program = this.#kind === 'none' ? undefined : await this.#tried()
    if (program === undefined) return { file, args }
    const view = viewOptions({ ...this.#confinement, mode: this.#confinement.mode === 'full' ? 'full' : 'read-only', writable: [] })
    const options = ['--die-with-parent', '--unshare-user', '--unshare-pid', '--cap-drop', 'ALL', ...view, '--chdir', directory]
    return { file: program, args: [...options, '--', file, ...args] }
  }

  #options(): readonly string[] {
    const { network } = this.#confinement
    const spaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', ...(network ? [] : ['--unshare-net'])]
    return [...spaces, '--cap-drop', 'ALL', ...viewOptions(this.#confinement)]
  }

  /** The program, if it works; undefined where commands may run without. Throws StageError (78) where they may not. */
  #tried(): Promise<string | undefined> {
    this.#program ??= this.#try()
    return this.#program
  }

  async #try(): Promise<string | undefined> {
    const problem = await this.#problem()
    if (problem === undefined) return this.#path
    if (this.#kind === 'bwrap') throw new StageError(EXIT.CONFIG, `--sandbox bwrap: ${problem}`)
    this.#diagnose(`${problem}: commands are not confined`)
    return undefined
  }

  async #problem(): Promise<string | undefined> {
    const path = this.#path
    if (path === undefined) return 'there is no bubblewrap (bwrap) to confine commands with'
    let said = ''
    const sink = (chunk: Buffer) => {
      said = (said + chunk).slice(-1000)
      return undefined
    }
    const spec = { file: path, args: [...this.#options(), '--', '/bin/sh', '-c', ':'], cwd: '/', env: { PATH: process.env.PATH ?? '' }, sink }
    try {
      const end = await this.#commands.run({ ...spec, timeoutMs: PROBE_MS, signal: new AbortController().signal })
      if (end.exitCode === 0) return undefined
    } catch (error) {
      said = (error as Error).message
    }
    return `bubblewrap does not work here (${said.trim().split('\n').at(-1)})`
  }

  /** Where commands can write they could put one of their own. */
  get #path(): string | undefined {
    const path = programPath('bwrap')
    return path === undefined || this.#confinement.writable.some((directory) => isWithin(directory, path)) ? undefined : path
  }
}
