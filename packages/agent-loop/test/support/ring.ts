import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame, type FieldValue, FrameDecoder } from '@agentpipe/frame'
import { eventually, testEnvironment } from '@agentpipe/testing'

interface Test {
  teardown(work: () => void): void
}

export interface RingOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Names of the tools that the ring's runner defines in front of HELLO; without it nothing comes round. */
  readonly tools?: readonly string[]
  /** What the runner answers a call with, once it has passed; undefined for a call that goes on. */
  readonly answer?: Answering
}

export type Answering = (name: string, id: string, input: string) => readonly (readonly FieldValue[])[] | undefined

/** agent-loop, with the rest of the ring played by the test: what it sends comes back, behind the definitions of tools. */
export class Ring {
  readonly #child: ChildProcess
  readonly #options: RingOptions
  /** What the runner answers from now on. */
  answer: Answering | undefined
  /** What agent-loop has sent, each frame as the text of its fields. */
  readonly sent: string[][] = []
  readonly ended: Promise<{ status: number | null; signal: string | null; stderr: string }>
  stderr = ''

  /** `model` is the capture that plays the model; undefined where `options` name another provider. */
  constructor(t: Test, model: Uint8Array | undefined, options: RingOptions = {}) {
    this.#options = options
    this.answer = options.answer
    const directory = mkdtempSync(join(tmpdir(), 'agent-loop-test-'))
    t.teardown(() => rmSync(directory, { recursive: true, force: true }))
    if (model !== undefined) writeFileSync(join(directory, 'model.resp'), model)
    const environment = testEnvironment(options.env)
    const words = ['--session=s', ...(model === undefined ? [] : ['--from=model.resp']), ...(options.args ?? [])]
    this.#child = spawn('agent-loop', words, { cwd: directory, env: environment, stdio: 'pipe' })
    t.teardown(() => this.#child.kill('SIGKILL'))
    this.#child.stderr?.on('data', (text) => {
      this.stderr += text
    })
    this.#child.stdin?.on('error', () => {})
    this.#read()
    this.ended = once(this.#child, 'close').then(([status, signal]) => ({ status, signal, stderr: this.stderr }))
  }

  get pid(): number {
    return this.#child.pid as number
  }

  send(...frames: readonly (readonly FieldValue[])[]): void {
    this.write(Buffer.concat(frames.map((fields) => encodeFrame(fields))))
  }

  write(bytes: Uint8Array): void {
    this.#child.stdin?.write(bytes)
  }

  end(): void {
    this.#child.stdin?.end()
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Reads no more of what is sent, until `goOn`. */
  stall(): void {
    this.#child.stdout?.pause()
  }

  goOn(): void {
    this.#child.stdout?.resume()
  }

  /** Resolves when agent-loop has read everything that it was sent. */
  async taken(): Promise<boolean> {
    return eventually(() => this.#child.stdin?.writableLength === 0, 60_000)
  }

  /** The most memory that it has had, in MiB. */
  get peak(): number {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'latin1'))?.[1]) / 1024
  }

  stopReading(): void {
    this.#child.stdout?.destroy()
  }

  /** The frames of a type that were sent, or are in `sent`. */
  all(type: string, sent = this.sent): string[][] {
    return sent.filter(([first]) => first === type)
  }

  /** Has it take a turn, and gives what it sent for it. `attributes` of the USER_INPUT. */
  async turn(text: string, ...attributes: readonly string[]): Promise<string[][]> {
    await this.until('HELLO')
    const start = this.sent.length
    const stops = this.all('STOP').length
    this.send(['USER_INPUT', text, ...attributes])
    await this.until('STOP', stops + 1)
    return this.sent.slice(start)
  }

  /** Resolves when it has taken every signal and frame up to here: libuv takes signals behind what it reads, so the second time round they have been. */
  async settled(): Promise<void> {
    for (let time = 0; time < 2; time++) {
      const seen = this.all('PROMPT').length
      this.send(['PROMPT', '', '0'])
      await this.until('PROMPT', seen + 1)
    }
  }

  /** Has it forget the conversation: a process costs more than a turn. */
  async forget(): Promise<void> {
    const updates = this.all('CONTEXT_UPDATE').length
    this.send(['CONTROL', 'clear', ''])
    await this.until('CONTEXT_UPDATE', updates + 1)
  }

  types(): string[] {
    return this.sent.map(([type]) => type as string)
  }

  /** Waits for the `count`th frame of a type. */
  async until(type: string, count = 1): Promise<string[]> {
    await eventually(() => this.all(type).length >= count, 15_000)
    const frame = this.all(type)[count - 1]
    if (frame === undefined) throw new Error(`no ${type} number ${count}: ${JSON.stringify(this.sent).slice(0, 1000)} ${this.stderr}`)
    return frame
  }

  #read(): void {
    const decoder = new FrameDecoder()
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      decoder.push(chunk, (frame) => {
        const fields = frame.fields().map((field) => field.toString())
        this.sent.push(fields)
        if (this.#options.tools) this.#goRound(fields, Buffer.from(frame.bytes))
      })
    })
    this.#child.stdout?.on('end', () => this.end())
    this.#child.stdout?.on('error', () => {})
  }

  #goRound(fields: readonly string[], bytes: Buffer): void {
    const [type, name = '', id = '', input = ''] = fields
    if (type === 'HELLO') this.send(...(this.#options.tools ?? []).map((tool) => ['TOOL_DEF', tool, 'does it', '{"type":"object"}']))
    this.write(bytes)
    if (type !== 'TOOL_CALL') return
    for (const frame of this.answer?.(name, id, input) ?? []) this.send(frame)
  }
}
