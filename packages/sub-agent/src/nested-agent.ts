import { once } from 'node:events'
import { killGroup, type Reaper, reason } from '@agentpipe/stage'
import type { Task } from './definition.js'
import { nestedEnvironment } from './depth.js'
import { type Outcome, outcomeOf } from './report.js'

/** Bytes of a report that are read: answers are not as long. */
const MOST_REPORT = 16 * 1024 * 1024
/** Bytes of what it says on stderr that are kept, the last ones. */
const MOST_SAID = 4096
/** How long one that was interrupted has to end. */
const PATIENCE_MS = 4000

/** One agentpipe of its own: a session, a process group, the prompt on its stdin. */
export class NestedAgent {
  readonly session: string
  /** Of the call that started it. */
  readonly call: string
  readonly task: Task
  readonly #options: readonly string[]
  readonly #reaper: Reaper
  #group: number | undefined
  #cancelled = false

  constructor(session: string, call: string, task: Task, options: readonly string[], reaper: Reaper) {
    this.session = session
    this.call = call
    this.task = task
    this.#options = options
    this.#reaper = reaper
  }

  /** Runs it to its end. Never rejects. */
  async run(): Promise<Outcome> {
    try {
      if (!this.#cancelled) return await this.#run()
    } catch (error) {
      return outcomeOf('', reason(error), { cancelled: this.#cancelled, how: 'it could not be started', status: undefined })
    }
    return outcomeOf('', '', { cancelled: true, how: '', status: undefined })
  }

  /** Interrupts it; it is killed if it does not end of itself. */
  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    const group = this.#group
    if (group === undefined) return
    kill(group, 'SIGINT')
    setTimeout(() => this.#group === group && killGroup(group, 'SIGKILL'), PATIENCE_MS).unref()
  }

  async #run(): Promise<Outcome> {
    const { execa } = await import('execa')
    const child = execa('agentpipe', [...this.#options, '--output-format=json', `--session=${this.session}`], {
      input: this.task.prompt,
      env: nestedEnvironment(),
      extendEnv: false,
      detached: true,
      buffer: false,
      encoding: 'buffer',
      reject: false,
    })
    const { pid } = child
    if (pid !== undefined) {
      this.#group = pid
      this.#reaper.add(pid)
      // It was cancelled while execa was loaded.
      if (this.#cancelled) kill(pid, 'SIGINT')
    }
    const [report, said, result] = await Promise.all([collect(child.stdout, MOST_REPORT), collect(child.stderr, MOST_SAID), child])
    this.#group = undefined
    if (pid !== undefined) this.#reaper.remove(pid)
    if (result.code !== undefined && pid === undefined) throw new Error(`agentpipe: ${result.code}`)
    const how = result.signal === undefined ? `status ${result.exitCode}` : result.signal
    return outcomeOf(report, said, { cancelled: this.#cancelled, how, status: result.exitCode })
  }
}

function kill(process_: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process_, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** The last `most` bytes that a stream gives, as text. */
async function collect(stream: NodeJS.ReadableStream, most: number): Promise<string> {
  let kept: Buffer[] = []
  let length = 0
  stream.on('data', (chunk: Buffer) => {
    kept.push(chunk)
    length += chunk.length
    if (length < most * 2) return
    kept = [Buffer.concat(kept).subarray(-most)]
    length = most
  })
  await once(stream, 'close')
  return Buffer.concat(kept).subarray(-most).toString()
}
