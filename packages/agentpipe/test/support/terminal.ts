import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { testEnvironment } from '@agentpipe/testing'
import { capture, type Response, Workspace } from './capture.js'

/** A command in a pseudo-terminal of its own: script(1) of util-linux. */
export class Terminal {
  readonly workspace: Workspace
  readonly ended: Promise<unknown>
  readonly #process
  screen = ''

  constructor(t: { teardown(work: () => void): void }, line: string, responses: readonly Response[]) {
    this.workspace = new Workspace(t, capture(...responses))
    this.#process = spawn('script', ['-qefc', line, '/dev/null'], {
      cwd: this.workspace.directory,
      env: testEnvironment({ ...this.workspace.environment, SHELL: '/bin/bash', TERM: 'xterm' }),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#process.stdout.setEncoding('utf8').on('data', (text) => {
      this.screen += text
    })
    this.ended = once(this.#process, 'close')
    t.teardown(() => this.#process.kill('SIGKILL'))
  }

  type(keys: string): void {
    this.#process.stdin.write(keys)
  }

  async pressCtrlC(): Promise<void> {
    this.type('\x03')
    await this.ended
  }
}
