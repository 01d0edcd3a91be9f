import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { eventually, testEnvironment } from '@agentpipe/testing'
import { Workspace } from './capture.js'

interface Test {
  teardown(work: () => void): void
}

/** Why nothing can be tested in tmux here; false where it can. */
export const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

/** A terminal of tmux with bash in it, in a workspace of its own. */
export class Tmux {
  readonly workspace: Workspace
  readonly #socket: string

  constructor(t: Test, model: Uint8Array, { columns = 80, rows = 24 } = {}) {
    this.workspace = new Workspace(t, model)
    this.#socket = this.workspace.path('tmux')
    const env = testEnvironment({
      ...this.workspace.environment,
      PS1: '\\$ ',
      TERM: 'xterm-256color',
      LC_ALL: 'C.UTF-8',
      TMUX: undefined,
      NODE_OPTIONS: undefined,
    })
    const file = this.workspace.path('bashrc')
    writeFileSync(file, 'PS1="$ "\n')
    execFileSync('tmux', ['-f', '/dev/null', '-S', this.#socket, 'new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, `bash --rcfile ${file}`], {
      cwd: this.workspace.directory,
      env,
    })
    this.tmux('set', '-g', 'history-limit', '5000')
    t.teardown(() => this.end())
  }

  /** The terminal is closed, and all that runs in it. */
  end(): void {
    spawnSync('tmux', ['-S', this.#socket, 'kill-server'])
  }

  tmux(...words: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...words]).toString()
  }

  /** Text as it is. */
  type(text: string): void {
    this.tmux('send-keys', '-l', '--', text)
  }

  /** Keys by tmux's names: Enter, C-c, M-Enter. */
  press(...keys: readonly string[]): void {
    this.tmux('send-keys', ...keys)
  }

  paste(text: string): void {
    execFileSync('tmux', ['-S', this.#socket, 'load-buffer', '-'], { input: text })
    this.tmux('paste-buffer', '-p', '-r')
  }

  /** Everything that was on the screen, lines that were wrapped by the terminal as one. */
  get screen(): string {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  }

  /** What is on the screen now. */
  get pane(): string {
    return this.tmux('capture-pane', '-p')
  }

  /** Types a line and sends it. */
  enter(text: string): void {
    this.type(text)
    this.press('Enter')
  }

  /** Another size. What stood on a line that is too long now is wrapped. */
  resize(columns: number, rows = 24): void {
    this.tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`)
  }

  /** From now on what is written to the terminal goes to a file as well: its bytes so far. */
  bytes(): () => string {
    const file = this.workspace.path('bytes')
    writeFileSync(file, '')
    this.tmux('pipe-pane', '-O', `cat >>'${file}'`)
    return () => readFileSync(file, 'latin1')
  }

  /** The cells left of the cursor on its line. */
  get cursor(): number {
    return Number(this.tmux('display-message', '-p', '#{cursor_x}'))
  }

  /** Waits until the screen has `text`; gives whether it has. */
  async shows(text: string | RegExp, milliseconds = 30_000): Promise<boolean> {
    return eventually(() => (typeof text === 'string' ? this.screen.includes(text) : text.test(this.screen)), milliseconds)
  }

  /** Starts agentpipe interactively, and waits for its prompt. */
  async start(words = ''): Promise<boolean> {
    this.type(`agentpipe --provider replay --from model.resp ${words}`)
    this.press('Enter')
    return this.shows(/^› ask for anything/m)
  }

  /** Whether bash has the terminal again, as it was. */
  async isSane(): Promise<boolean> {
    this.press('C-u')
    this.type('stty -a | grep -c "^isig icanon.* echo "; echo sane-$((40 + 2))')
    this.press('Enter')
    return this.shows(/^1\nsane-42$/m)
  }
}
