import { realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Diagnose, type Output, reason, usage } from '@agentpipe/stage'
import { CommandRunner } from './command.js'
import { Jobs } from './jobs.js'
import { KeptFiles } from './kept-files.js'
import { type McpEntry, mcpEntries } from './mcp-config.js'
import type { Options } from './options.js'
import { Permissions } from './permissions.js'
import { Pipes } from './pipes.js'
import { Policy } from './policy.js'
import { ProcessGroups } from './process-groups.js'
import { projectRules, userRules } from './rule-sources.js'
import { Sandbox } from './sandbox.js'
import { SeenFiles } from './seen-files.js'
import { TemporaryDirectory } from './temporary-directory.js'
import { toolDirectories } from './tool-directories.js'
import { WorkingDirectory } from './working-directory.js'

/** A result must fit into a field of 64 MiB, with what is said about it. */
const LARGEST_OUTPUT = 63 * 1024 ** 2

/** What the tools of one tool-runner share. */
export class Session {
  /** A real path. */
  readonly workspace: string
  readonly permissions: Permissions
  /** Milliseconds that a command has which asks for no other time; undefined for no limit. */
  readonly timeoutMs: number | undefined
  /** Bytes. */
  readonly maxOutput: number
  readonly seen = new SeenFiles()
  readonly kept = new KeptFiles()
  readonly jobs = new Jobs()
  readonly groups = new ProcessGroups()
  readonly temporary = new TemporaryDirectory((directory) => this.groups.removes(directory))
  readonly #pipes = new Pipes(this.temporary)
  readonly commands = new CommandRunner(this.groups, this.#pipes)
  readonly sandbox: Sandbox
  readonly workingDirectory: WorkingDirectory
  /** Real paths of directories whose programs are tools. */
  readonly toolDirectories: readonly string[]
  /** Variables that commands get though they look like keys. */
  readonly env: readonly string[]
  readonly mcpEntries: readonly McpEntry[]
  readonly #leaving = new AbortController()

  /** Throws StageError when there is no such workspace or tools directory, and for rules and MCP files that are none. */
  constructor(options: Options, output: Output, diagnose: Diagnose) {
    this.workspace = realDirectory(options.workspace, 'workspace')
    this.toolDirectories = toolDirectories(options['tools-dir'], this.workspace, diagnose)
    this.env = options.env
    this.mcpEntries = options.mcp.flatMap(mcpEntries)
    const places = {
      writable: [this.workspace, realPathOf(tmpdir()), ...options.writable.map((path) => realDirectory(path, 'writable'))],
      guarded: [...this.toolDirectories, ...options.mcp.map((path) => realpathSync(path)), join(this.workspace, '.agentpipe')],
    }
    const policy = new Policy(options.mode, places, userRules(options, this.workspace), projectRules(this.workspace))
    const { mode, network, env } = options
    this.sandbox = new Sandbox(options.sandbox, { mode, network, env, ...places }, this.commands, diagnose)
    this.permissions = new Permissions(policy, output)
    this.timeoutMs = options.timeout === 0 ? undefined : options.timeout * 1000
    this.maxOutput = Math.min(Math.max(2, Math.floor(options['max-output'])), LARGEST_OUTPUT)
    this.workingDirectory = new WorkingDirectory(this.workspace)
  }

  /** Aborted when tool-runner leaves: what nobody has called ends then. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** Leaves nothing behind but the outputs that results name. */
  async leave(): Promise<void> {
    this.#leaving.abort()
    await this.groups.leave()
    await this.jobs.leave()
    await this.#pipes.leave()
    await this.temporary.leave()
  }
}

function realDirectory(path: string, option: string): string {
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch (error) {
    if (path === '.') throw usage(`--${option} .: the current directory has been removed, or its path is not UTF-8`)
    throw usage(`--${option} ${path}: ${reason(error)}`)
  }
  throw usage(`--${option} ${path}: not a directory`)
}

function realPathOf(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}
