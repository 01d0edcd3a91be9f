import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FrameDecoder } from '@agentpipe/frame'
import { eventually, frames, testEnvironment } from '@agentpipe/testing'

/** Why there is no pseudo-terminal here; false where there is one. */
export const noTerminal = spawnSync('script', ['-qefc', 'true', '/dev/null']).status === 0 ? false : 'there is no script(1) of util-linux here'

interface Options {
  /** Whether frames come round: `say` writes them. */
  readonly ring?: boolean
  readonly words?: string
  /** What runs behind it in the terminal. */
  readonly behind?: string
}

/** user-prompt in a pseudo-terminal of its own, in a directory of its own; what it writes goes to a file. */
export class Typing {
  readonly directory: string
  readonly ended: Promise<unknown>
  readonly process
  screen = ''
  #back: number | undefined

  constructor(t: { teardown(work: () => void): void }, { ring = false, words = '', behind = 'true' }: Options = {}, directory?: string) {
    this.directory = directory ?? mkdtempSync(join(tmpdir(), 'user-prompt-test-'))
    mkdirSync(this.path('state'), { recursive: true })
    writeFileSync(this.path('config.json'), '{}')
    rmSync(this.path('out'), { force: true })
    if (ring) spawnSync('mkfifo', [this.path('back')])
    const line = `user-prompt ${words} <${ring ? 'back' : '/dev/null'} >out; echo "status $?"; ${behind}`
    this.process = spawn('script', ['-qefc', line, '/dev/null'], {
      cwd: this.directory,
      env: testEnvironment({ XDG_STATE_HOME: this.path('state'), SHELL: '/bin/sh', TERM: 'xterm', AGENTPIPE_CONFIG: this.path('config.json') }),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.process.stdout.setEncoding('utf8').on('data', (text) => {
      this.screen += text
    })
    this.ended = once(this.process, 'close')
    if (ring) this.#back = openSync(this.path('back'), 'r+')
    t.teardown(() => {
      this.process.kill('SIGKILL')
      if (directory === undefined) rmSync(this.directory, { recursive: true, force: true })
    })
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  type(keys: string): void {
    this.process.stdin.write(keys)
  }

  /** Frames that come round. */
  say(...list: readonly (readonly string[])[]): void {
    writeSync(this.#back as number, frames(...list))
  }

  /** Nothing comes round any more. */
  endRing(): void {
    closeSync(this.#back as number)
  }

  /** Whole frames that were written so far, as fields. */
  get written(): string[][] {
    const list: string[][] = []
    if (!existsSync(this.path('out'))) return list
    new FrameDecoder().push(readFileSync(this.path('out')), (frame) => list.push(frame.fields().map(String)))
    return list
  }

  /** The frames of a type. */
  of(type: string): string[][] {
    return this.written.filter(([first]) => first === type)
  }

  /** The last PROMPT: its text, the cursor, and its attributes. */
  get prompt(): { text: string; cursor: number; hint: string | undefined; note: string | undefined } {
    const [, text = '', cursor, ...rest] = this.of('PROMPT').at(-1) ?? []
    const attribute = (name: string) => rest.find((_, index) => index % 2 === 1 && rest[index - 1] === name)
    return { text, cursor: Number(cursor), hint: attribute('hint'), note: attribute('note') }
  }

  /** Whether the last PROMPT gets to have this text. */
  prompts(text: string): Promise<boolean> {
    return eventually(() => this.prompt.text === text, 15_000)
  }

  /** Whether the prompt gets to be there. */
  begun(): Promise<boolean> {
    return eventually(() => this.prompt.hint !== undefined, 15_000)
  }
}
