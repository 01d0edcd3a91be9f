import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FieldValue, FrameDecoder } from '@agentpipe/frame'
import { eventually, frames, testEnvironment } from '@agentpipe/testing'
import { type Place, type Result, resultOf } from './tools.js'

/** A tool-runner that is fed while it runs. */
export class LiveRunner {
  readonly process: ChildProcess
  /** The frames that it has written so far, each as its fields. */
  readonly frames: string[][] = []
  readonly ended: Promise<[status: number | null, signal: string | null]>
  stderr = ''

  constructor(t: { teardown(work: () => void): void }, place: Place, options: readonly string[] = []) {
    this.process = spawn('tool-runner', options, { cwd: place.workspace, env: testEnvironment(place.environment), stdio: 'pipe' })
    this.ended = once(this.process, 'close') as Promise<[number | null, string | null]>
    const decoder = new FrameDecoder()
    this.process.stdout?.on('data', (chunk: Buffer) => decoder.push(chunk, (frame) => this.frames.push(frame.fields().map((field) => field.toString()))))
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk
    })
    this.process.stdin?.on('error', () => {})
    t.teardown(() => this.process.kill('SIGKILL'))
  }

  send(...fields: readonly FieldValue[]): void {
    this.process.stdin?.write(frames(fields))
  }

  call(name: string, id: string, input: unknown): void {
    this.send('TOOL_CALL', name, id, JSON.stringify(input))
  }

  endInput(): void {
    this.process.stdin?.end()
  }

  types(): string[] {
    return this.frames.map(([type]) => type as string)
  }

  /** What a call has printed so far. */
  printed(id: string): string {
    return this.frames
      .filter(([type, of]) => type === 'TOOL_OUTPUT' && of === id)
      .map(([, , chunk]) => chunk)
      .join('')
  }

  async untilPrinted(id: string, text: string): Promise<void> {
    if (!(await eventually(() => this.printed(id).includes(text), 60_000))) throw new Error(`${id} never printed ${text}: ${this.stderr}`)
  }

  async result(id: string): Promise<Result> {
    const found = await eventually(() => this.frames.find(([type, of]) => type === 'TOOL_RESULT' && of === id), 60_000)
    if (found === undefined) throw new Error(`no result of ${id}: ${this.stderr}`)
    return resultOf(found)
  }
}

/** One tool-runner for all the calls of a file that need no runner of their own: each start costs more than most calls. Ended, and looked at, when the file ends. */
export class SharedRunner {
  readonly #runner: LiveRunner
  #calls = 0

  constructor(t: { teardown(work: () => void | Promise<void>): void }, place: Place, options: readonly string[] = []) {
    this.#runner = new LiveRunner(t, place, options)
    t.teardown(() => this.#end())
  }

  /** Runs calls, one after the other where they write, and gives their results in the order of the calls. */
  call(calls: readonly (readonly [name: string, input: unknown])[]): Promise<Result[]> {
    return Promise.all(
      calls.map(([name, input]) => {
        const id = `s${++this.#calls}`
        this.#runner.send('TOOL_CALL', name, id, typeof input === 'string' ? input : JSON.stringify(input))
        return this.#runner.result(id)
      }),
    )
  }

  async callOne(name: string, input: unknown): Promise<Result> {
    return (await this.call([[name, input]]))[0] as Result
  }

  async #end(): Promise<void> {
    this.#runner.endInput()
    const ended = await this.#runner.ended
    if (ended[0] !== 0 || this.#runner.stderr !== '') throw new Error(`tool-runner ended with ${ended}: ${this.#runner.stderr}`)
  }
}
