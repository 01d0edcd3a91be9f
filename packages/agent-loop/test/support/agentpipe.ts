import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, testEnvironment } from '@agentpipe/testing'

interface Test {
  teardown(work: () => void): void
}

/** A directory in which agentpipe runs, all its state in it. */
export class Project {
  readonly directory: string
  readonly #env: Readonly<Record<string, string>>

  constructor(t: Test, env: Readonly<Record<string, string>>) {
    this.directory = mkdtempSync(join(tmpdir(), 'project-'))
    this.#env = { ...env, XDG_STATE_HOME: join(this.directory, 'state'), TMPDIR: this.directory, PROJECT: this.directory }
    t.teardown(() => {
      this.kill()
      rmSync(this.directory, { recursive: true, force: true })
    })
  }

  /** Starts it; `ended` resolves when it has, with what it printed. */
  start(...args: readonly string[]): { child: ChildProcess; ended: Promise<{ status: number | null; stdout: string; stderr: string }> } {
    const environment = testEnvironment(this.#env)
    const child = spawn('agentpipe', args, { cwd: this.directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    return { child, ended: once(child, 'close').then(([status]) => ({ status, stdout, stderr })) }
  }

  has(name: string): boolean {
    return existsSync(join(this.directory, name))
  }

  /** Resolves when there is a file of that name. */
  until(name: string): Promise<boolean> {
    return eventually(() => this.has(name), 15_000)
  }

  /** Resolves when a log of this project has an event with `text` in it. */
  async logged(text: string): Promise<boolean> {
    const state = join(this.directory, 'state')
    const logs = () => (existsSync(state) ? readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')) : [])
    return eventually(() => logs().some((name) => readFileSync(join(state, name), 'utf8').includes(text)))
  }

  /** `kill -9` of everything that runs here, or of what has `text` in its command line. Gives how many there were. */
  kill(text = ''): number {
    const found = this.#running().filter(({ command }) => command.includes(text))
    for (const { pid } of found) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
    return found.length
  }

  /** Resolves when nothing runs here any more. */
  quiet(): Promise<boolean> {
    return eventually(() => this.#running().length === 0, 10_000)
  }

  #running(): { pid: number; command: string }[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          if (!readFileSync(`/proc/${name}/environ`, 'latin1').includes(`PROJECT=${this.directory}`)) return []
          return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'latin1') }]
        } catch {
          return []
        }
      })
  }
}
