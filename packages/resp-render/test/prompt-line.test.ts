import { frames, framesOf, shell } from '@agentpipe/testing'
import xterm from '@xterm/headless'
import t from 'tap'
import { PromptLine } from '../src/prompt-line.js'
import { Renderer } from '../src/renderer.js'
import { OPTIONS } from './render.js'

/** A terminal with a renderer and a prompt, as `--tty` has them. */
class View {
  readonly #terminal: xterm.Terminal
  readonly #renderer: Renderer
  readonly #prompt: PromptLine
  readonly #width: number

  constructor(width: number, rows = 12) {
    this.#width = width
    this.#terminal = new xterm.Terminal({ cols: width, rows, scrollback: 1000, allowProposedApi: true })
    this.#renderer = new Renderer({ ...OPTIONS, width, depth: 16 })
    this.#prompt = new PromptLine(this.#renderer.theme)
  }

  say(...fields: readonly string[]): Promise<void> {
    for (const frame of framesOf(frames(fields))) {
      if (frame.type === 'PROMPT') this.#prompt.frame(frame)
      else this.#renderer.frame(frame)
    }
    return this.#write(this.#prompt.below(this.#renderer.take(), this.#width))
  }

  end(): Promise<void> {
    this.#renderer.end()
    return this.#write(this.#prompt.below(this.#renderer.take(), this.#width) + this.#prompt.end(this.#width))
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(text, resolve))
  }

  /** All lines, with | where the cursor is. */
  get lines(): string {
    const { active } = this.#terminal.buffer
    const lines = Array.from({ length: active.length }, (_, at) => {
      const line = active.getLine(at)?.translateToString(true) ?? ''
      if (at !== active.baseY + active.cursorY) return line
      return `${line.padEnd(active.cursorX).slice(0, active.cursorX)}|${line.slice(active.cursorX)}`
    })
    return lines.join('\n').trimEnd()
  }
}

t.test('the prompt stays below what comes', async (t) => {
  const view = new View(20)
  await view.say('PROMPT', '', '0', 'hint', 'ask away')
  t.equal(view.lines, '› |ask away')
  await view.say('TEXT', 'One **two')
  t.equal(view.lines, 'One\n› |ask away')
  await view.say('PROMPT', 'abc', '2')
  t.equal(view.lines, 'One\n› ab|c')
  await view.say('TEXT', '** three four five six\n\n- sev')
  t.equal(view.lines, 'One two three four\nfive six\n\n• sev\n› ab|c')
  await view.say('TEXT', 'en')
  await view.say('TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}')
  await view.say('PROMPT', 'a long prompt that is wrapped\nand goes on', '40')
  t.equal(view.lines, 'One two three four\nfive six\n\n• seven\n\n● Bash  ls\n› a long prompt tha\n  t is wrapped\n  and goes o|n')
  await view.say('TOOL_RESULT', 'c1', 'Bash', 'x\ny')
  t.equal(view.lines, 'One two three four\nfive six\n\n• seven\n\n● Bash  ls\n  │ x\n  │ y\n› a long prompt tha\n  t is wrapped\n  and goes o|n')
  await view.end()
  t.equal(view.lines, 'One two three four\nfive six\n\n• seven\n\n● Bash  ls\n  │ x\n  │ y\n|')
})

t.test('it scrolls, and what scrolled stays', async (t) => {
  const view = new View(20, 4)
  await view.say('PROMPT', 'p', '1')
  for (let line = 1; line <= 10; line++) await view.say('TEXT', `line ${line}\n`)
  t.equal(view.lines, `${Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join('\n')}\n› p|`)
  await view.say('PROMPT', '漢字 \u202e\x1b[2J', '2')
  t.match(view.lines.replace('|', ''), /\n› 漢字 \\u202e\\u001b/)
})

t.test('on a terminal: frames go on, and there is none without a terminal', async (t) => {
  const input = frames(['TEXT', 'hello'], ['PROMPT', 'x', '1'], ['NEW', 'frame'], ['STOP', 'end_turn'])
  const { stdout } = await shell('cat >in; script -qec "resp-render --tty <in >out" screen >/dev/null; cat out; echo; cat -v screen', [], {
    cwd: t.testdir({}),
    input,
    env: { TERM: 'xterm' },
  })
  const [passed = '', screen = ''] = stdout.toString().split('\nScript')
  t.equal(passed.trimEnd(), input.toString().trimEnd())
  t.match(screen, /hello/)
  const without = await shell('setsid resp-render --tty <in', [], { cwd: t.testdir({ in: '' }) })
  t.match(without, { status: 69, stderr: /^resp-render: --tty: cannot open the terminal: / })
})

t.test('another width of the terminal is known as soon as something is drawn, before its signal comes', async (t) => {
  // In the background it gets no SIGWINCH at all: that goes to the foreground.
  const script = `set -m; stty cols 40; mkfifo in; resp-render --tty <in >out & exec 3>in; cat one >&3
    until cmp -s one out; do sleep 0.05; done; stty cols 10; cat two >&3; exec 3>&-; wait`
  const cwd = t.testdir({ one: frames(['PROMPT', 'a'.repeat(25), '25']), two: frames(['PROMPT', 'b', '1']), script })
  const { stdout } = await shell('script -qec "bash script" screen >/dev/null; cat screen', [], { cwd, env: { TERM: 'xterm', SHELL: '/bin/sh' } })
  t.match(stdout.toString().split('a'.repeat(25))[1], '\r\x1b[2A\x1b[J', 'it stood in three rows')
})
