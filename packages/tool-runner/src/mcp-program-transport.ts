import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { ProcessGroups } from './process-groups.js'

/** The last of what a server says on stderr, to tell why it ended. */
const STDERR_CHARACTERS = 2000
/** How long after its end what a server wrote before it may still come. */
const DRAIN_MS = 100

export interface ProgramSpec {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** How messages are written and read: the SDK's own. */
export interface Codec {
  readonly buffer: ReadBuffer
  readonly serialize: (message: JSONRPCMessage) => string
}

/**
 * An MCP server that is a program, spoken to on its standard streams. The SDK has such a transport too, which ends the program alone: ours has a
 * process group, so that what `npx` starts ends with it, and not even SIGKILL of tool-runner leaves one.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #spec: ProgramSpec
  readonly #codec: Codec
  readonly #groups: ProcessGroups
  #child: ChildProcess | undefined
  #stderr = ''
  #end: string | undefined

  constructor(spec: ProgramSpec, codec: Codec, groups: ProcessGroups) {
    this.#spec = spec
    this.#codec = codec
    this.#groups = groups
  }

  /** How it ended, and what it said last; undefined while it runs. */
  get end(): string | undefined {
    const said = this.#stderr.trim().split('\n').at(-1)
    return this.#end === undefined ? undefined : `${this.#end}${said ? `: ${said}` : ''}`
  }

  /** Resolves when it has ended, or after a moment. */
  async untilEnd(): Promise<void> {
    if (this.#child !== undefined && this.#end === undefined) await Promise.race([once(this.#child, 'exit'), sleep(10 * DRAIN_MS)]).catch(() => {})
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#spec
    const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true })
    this.#child = child
    const group = child.pid
    if (group !== undefined) this.#groups.started(group)
    child.once('exit', (code, signal) => {
      if (group !== undefined) this.#groups.ended(group)
      this.#end = signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`
    })
    void this.#untilClosed(child)
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS)
    })
    await once(child, 'spawn')
    child.on('error', (error) => this.onerror?.(error))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error('it takes no more messages')
    if (!stdin.write(this.#codec.serialize(message))) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')])
  }

  async close(): Promise<void> {
    this.#child?.stdin?.end()
    const group = this.#child?.pid
    if (group !== undefined && this.#end === undefined) await this.#groups.end(group)
  }

  /** What it has left behind may hold its pipes for ever: soon after its end nothing more counts. */
  async #untilClosed(child: ChildProcess): Promise<void> {
    const closed = once(child, 'close')
    await Promise.race([once(child, 'exit').then(() => sleep(DRAIN_MS)), closed]).catch(() => {})
    closed.catch(() => {})
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    const { buffer } = this.#codec
    try {
      buffer.append(chunk)
    } catch (error) {
      this.onerror?.(error as Error)
      void this.close()
      return
    }
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // A line that is no message: a banner, say. The next one may be.
        this.onerror?.(error as Error)
      }
    }
  }
}
