import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { reason } from '@agentpipe/stage'
import type { Item } from './batch-file.js'
import { rest } from './rest.js'
import { addWorktree, type Worktree } from './worktree.js'

/** How an item ended. */
export interface Outcome {
  readonly item: Item
  readonly session: string
  /** Exit status of its agentpipe; that of a shell where a signal ended it. */
  readonly status: number
  readonly seconds: number
  readonly text: string
  readonly stopReason: string | null
  readonly usage: Readonly<Record<string, number>>
  readonly errors: readonly string[]
  /** Where its changes are, if there are any in a worktree of its own. */
  readonly worktree: { readonly path: string; readonly branch: string } | undefined
}

interface Setup {
  /** The agentpipe to run. */
  readonly executable: string
  readonly options: readonly string[]
  readonly worktree: boolean
}

/** An agentpipe of its own for one item: a session, and if it is wanted a worktree. */
export class Job {
  readonly #item: Item
  readonly #setup: Setup
  readonly #session: string
  #child: ChildProcess | undefined
  #stopped = false

  constructor(item: Item, setup: Setup) {
    this.#item = item
    this.#setup = setup
    this.#session = item.session ?? `batch-${new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}-${randomBytes(3).toString('hex')}`
  }

  /** Runs it to its end. Never rejects. */
  async run(): Promise<Outcome> {
    const started = performance.now()
    let worktree: Worktree | undefined
    let ended = { status: 130, report: {} as Report }
    const problems: string[] = []
    try {
      const directory = resolve(this.#item.cwd ?? '.')
      if (this.#setup.worktree) worktree = await addWorktree(directory, this.#session)
      if (!this.#stopped) ended = await this.#agent(worktree?.cwd ?? directory)
    } catch (error) {
      ended = { status: 69, report: {} }
      problems.push(`agentpipe: ${reason(error)}`)
    }
    const kept = await worktree?.finish().catch((error) => {
      problems.push(`agentpipe: ${reason(error)}`)
      return true
    })
    const { text = '', stop_reason = null, usage = {}, errors = [] } = ended.report
    return {
      item: this.#item,
      session: this.#session,
      status: ended.status,
      seconds: (performance.now() - started) / 1000,
      text,
      stopReason: stop_reason,
      usage,
      errors: [...errors, ...problems],
      worktree: worktree && kept ? { path: worktree.cwd, branch: worktree.branch } : undefined,
    }
  }

  /** It ends as soon as it can. */
  stop(signal: NodeJS.Signals): void {
    this.#stopped = true
    this.#child?.kill(signal)
  }

  #agent(cwd: string): Promise<{ status: number; report: Report }> {
    const words = [...this.#setup.options, ...this.#item.options, '--output-format=json', `--session=${this.#session}`]
    const child = spawn(this.#setup.executable, words, {
      cwd,
      // Standard error stands in the report, where it matters. The last one ends with us, however we end.
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      env: { ...process.env, AGENTPIPE_WATCH_FD: '3' },
    })
    this.#child = child
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      child.on('error', reject)
      child.stdin?.on('error', () => {})
      child.stdin?.end(this.#item.prompt)
      child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
      child.on('exit', (status, signal) => {
        const done = child.stdout ? rest(child.stdout) : Promise.resolve()
        void done.then(() => resolve({ status: status ?? (signal === 'SIGINT' ? 130 : 143), report: reportOf(Buffer.concat(chunks)) }))
      })
    })
  }
}

interface Report {
  readonly text?: string
  readonly stop_reason?: string | null
  readonly usage?: Record<string, number>
  readonly errors?: string[]
}

function reportOf(bytes: Buffer): Report {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return {}
  }
}
