import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logPath, makeDirectory, projectDirectory } from '@agentpipe/stage'
import { type Ended, framesOf, type RunOptions, root, run, shell, testEnvironment } from '@agentpipe/testing'
import { isRecorded, recordLine } from '../../src/record.js'
import { type Read, readInProcess } from './reading.js'

interface Test {
  teardown(work: () => void): void
}

/** A directory of one test: `work` to run in, `state` for XDG_STATE_HOME. */
export class Store {
  readonly directory: string
  #recorded = 0

  constructor(test: Test) {
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), 'event-store-test-')))
    test.teardown(() => rmSync(this.directory, { recursive: true, force: true }))
    mkdirSync(this.path('work'))
  }

  path(...names: string[]): string {
    return join(this.directory, ...names)
  }

  get environment(): Record<string, string> {
    return { XDG_STATE_HOME: this.path('state'), XDG_CACHE_HOME: this.path('cache') }
  }

  /** What a verb that reads does, without a process of its own. */
  read(args: readonly string[], { cwd = this.path('work'), env = {} }: Pick<RunOptions, 'cwd' | 'env'> = {}): Promise<Read> {
    return readInProcess(args, cwd, { ...this.environment, ...env })
  }

  /** Runs event-store to its end. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return run('event-store', args, this.#inside(options))
  }

  /** Runs a line of bash. */
  shell(line: string, args: readonly string[] = [], options: RunOptions = {}): Promise<Ended> {
    return shell(line, args, this.#inside(options))
  }

  /** Starts event-store, all of its streams being pipes. */
  start(args: readonly string[], cwd = this.path('work'), extra: RunOptions['env'] = {}) {
    const env = testEnvironment({ ...this.environment, ...extra })
    return spawn(join(root, 'dist/bin/event-store'), args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  }

  /** Path of a session's log. There must be one session of that id. */
  async log(id: string): Promise<string> {
    return (await this.read(['path', id])).stdout.toString().trimEnd()
  }

  /** The lines of a session's log as objects. Each must be whole. */
  async records(id: string): Promise<Record<string, unknown>[]> {
    return linesOf(readFileSync(await this.log(id), 'utf8')).map((line) => JSON.parse(line))
  }

  /** Ids of the sessions of all projects, as directories. */
  sessions(): string[] {
    try {
      const projects = this.path('state', 'agentpipe', 'projects')
      return readdirSync(projects).flatMap((project) => readdirSync(join(projects, project)))
    } catch {
      return []
    }
  }

  /** Makes a session of which the log holds `text`, in the project of the directory `work`, or of another one. */
  async write(id: string, text: string | Uint8Array, cwd = this.path('work')): Promise<string> {
    const directory = join(projectDirectory(this.path('state', 'agentpipe'), cwd), id)
    makeDirectory(directory)
    const path = logPath(directory)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }

  /** Makes a session of which the log holds the events among `bytes`, as it would be recorded. */
  record(id: string, bytes: Buffer, cwd?: string): Promise<string> {
    // Each after the one before, however soon.
    const time = new Date(Date.now() + this.#recorded++).toISOString()
    const events = framesOf(bytes).filter(({ type }) => isRecorded(type))
    return this.write(id, events.map((frame, index) => recordLine(frame, index + 1, time)).join(''), cwd)
  }

  #inside(options: RunOptions): RunOptions {
    return { cwd: this.path('work'), ...options, env: { ...this.environment, ...options.env } }
  }
}

/** The lines of a text that ends in LF. */
export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1)
}

/** The line of a log for a piece of text. */
export function textLine(seq: number, text: string, time = '2026-12-01T09:30:00.000Z'): string {
  return `{"v":1,"seq":${seq},"ts":"${time}","type":"text","text":${JSON.stringify(text)}}\n`
}
