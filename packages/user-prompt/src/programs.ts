import { type ChildProcess, spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { killGroup, Reaper, reason } from '@agentpipe/stage'

/** Characters of what a program prints that are shown, and go to the model. */
const MOST = 32 * 1024
/** A program that is told to end and does not, is killed. */
const GRACE_MS = 1000

export interface Ran {
  readonly output: string
  /** How it ended, where that was not well: `status 1`, `SIGINT`. */
  readonly failure: string | undefined
}

/** What the model is told of a command that a person ran. */
export function forModel(command: string, { output, failure }: Ran): string {
  return `I ran the command \`${command}\`${failure === undefined ? '' : ` (${failure})`}. It printed:\n\n${output.trimEnd() || '(nothing)'}\n\n`
}

/** Runs one program at a time for the person at the terminal, and shows what it prints as it comes. It gets nothing to read, and no terminal. */
export class Programs {
  readonly #show: (text: string) => void
  readonly #reaper = new Reaper()
  #running: ChildProcess | undefined

  constructor(show: (text: string) => void) {
    this.#show = show
  }

  get running(): boolean {
    return this.#running !== undefined
  }

  /** Never rejects. */
  run(command: string, args: readonly string[]): Promise<Ran> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: environment() })
    this.#running = child
    if (child.pid !== undefined) this.#reaper.add(child.pid)
    const printed = new Printed(this.#show)
    child.stdout.on('data', (bytes: Buffer) => printed.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => printed.push(bytes))
    return new Promise((resolve) => {
      const end = (failure: string | undefined) => {
        if (this.#running !== child) return
        this.#running = undefined
        if (child.pid !== undefined) {
          killGroup(child.pid, 'SIGKILL')
          this.#reaper.remove(child.pid)
        }
        resolve({ output: printed.end(), failure })
      }
      child.on('error', (error) => end(reason(error)))
      // What it has left running may hold its output open: that is not waited for.
      child.on('exit', (status, signal) => setTimeout(() => end(signal ?? (status === 0 ? undefined : `status ${status}`)), 50))
    })
  }

  interrupt(): void {
    const { pid } = this.#running ?? {}
    if (pid === undefined) return
    killGroup(pid, 'SIGINT')
    setTimeout(() => killGroup(pid, 'SIGKILL'), GRACE_MS).unref()
  }
}

/** Shows whole lines as they come, and keeps them; past the limit only how much there was. */
class Printed {
  readonly #show: (text: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #whole = ''
  #shown = 0
  #left = 0

  constructor(show: (text: string) => void) {
    this.#show = show
  }

  push(bytes: Buffer): void {
    const text = this.#decoder.write(bytes)
    const room = MOST - this.#whole.length
    this.#whole += text.slice(0, room)
    this.#left += Math.max(0, text.length - room)
    const end = this.#whole.lastIndexOf('\n') + 1
    if (end > this.#shown) this.#show(this.#whole.slice(this.#shown, end))
    this.#shown = Math.max(end, this.#shown)
  }

  end(): string {
    if (this.#left > 0) this.#whole += `\n… ${this.#left} more characters`
    const rest = this.#whole.slice(this.#shown)
    if (rest.trim() !== '') this.#show(rest)
    return this.#whole
  }
}

/** Nobody can answer a pager, an editor or a question; and ours are no business of theirs, but for the mark by which agentpipe finds them. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^AGENTPIPE_USER_PROMPT_/.test(name))
  return { ...Object.fromEntries(own), PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1', TERM: 'dumb' }
}
