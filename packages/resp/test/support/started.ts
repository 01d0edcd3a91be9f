import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { root, testEnvironment } from '@agentpipe/testing'

/** `resp` while it runs: written to and read from step by step. */
export class Started {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<number | null>
  stderr = ''
  #output: Buffer[] = []

  constructor(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
    const env = testEnvironment(options.env)
    this.process = spawn(`${root}/dist/bin/resp`, args, { ...options, env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.process.stdout.on('data', (chunk) => this.#output.push(chunk))
    this.process.stderr.on('data', (chunk) => {
      this.stderr += chunk
    })
    this.process.stdin.on('error', () => {})
    this.ended = once(this.process, 'close').then(([status]) => status)
  }

  get output(): Buffer {
    return Buffer.concat(this.#output)
  }

  /** Writes byte by byte, each of them by itself. */
  async drip(bytes: Uint8Array): Promise<void> {
    for (const byte of bytes) {
      this.process.stdin.write(Buffer.from([byte]))
      await sleep(1)
    }
  }
}
