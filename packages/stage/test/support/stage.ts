import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Ended, type RunOptions, run, shell, testEnvironment } from '@agentpipe/testing'

/** Where a stage of test/stages is. */
export function stagePath(name: string): string {
  return fileURLToPath(new URL(`../stages/${name}.js`, import.meta.url))
}

/** Runs a stage to its end. */
export function runStage(name: string, args: readonly string[] = [], options: RunOptions = {}): Promise<Ended> {
  return run(process.execPath, [stagePath(name), ...args], options)
}

/** Runs a line of bash in which the stages of test/stages, written `%name`, can be called. */
export function line(text: string, options: RunOptions = {}): Promise<Ended> {
  return shell(
    text.replace(/%([a-z-]+)/g, (_, name: string) => `'${process.execPath}' '${stagePath(name)}'`),
    [],
    options,
  )
}

/** A stage while it runs. */
export class StartedStage {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<{ status: number | null; signal: string | null }>
  stderr = ''
  #output: Buffer[] = []

  /** `watch`: it watches descriptor 3, whose other end is `owner`. */
  constructor(name: string, { watch = false, env = {} }: { watch?: boolean; env?: Record<string, string> } = {}) {
    const environment = testEnvironment({ ...env, ...(watch ? { AGENTPIPE_WATCH_FD: '3' } : {}) })
    const started = spawn(process.execPath, [stagePath(name)], { env: environment, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    this.process = started as unknown as ChildProcessByStdio<Writable, Readable, Readable>
    this.process.stdout.on('data', (chunk) => this.#output.push(chunk))
    this.process.stderr.on('data', (chunk) => {
      this.stderr += chunk
    })
    this.process.stdin.on('error', () => {})
    this.ended = once(this.process, 'close').then(([status, signal]) => ({ status, signal }))
  }

  get owner(): Writable {
    return this.process.stdio[3] as unknown as Writable
  }

  get output(): Buffer {
    return Buffer.concat(this.#output)
  }
}
