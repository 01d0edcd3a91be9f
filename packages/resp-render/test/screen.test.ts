import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, shell } from '@agentpipe/testing'
import xterm from '@xterm/headless'
import t from 'tap'
import { renderChunks } from './render.js'

/** What a terminal really shows of each fixture is what we took it to be: its lines, and no look left on. */

const WIDTH = 80
const cases = readdirSync(fixture()).filter((name) => existsSync(fixture(name, 'in.resp')))
const rendered = (name: string) => renderChunks([readFileSync(fixture(name, 'in.resp'))], { width: WIDTH, depth: 16777216, links: true })
/** Without what it acts on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const bare = (screen: string) => screen.replace(/\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\/g, '')

t.test('xterm', async (t) => {
  for (const name of cases) {
    const screen = rendered(name)
    const terminal = new xterm.Terminal({ cols: WIDTH, rows: 24, scrollback: 10_000, convertEol: true, allowProposedApi: true })
    await new Promise<void>((resolve) => terminal.write(screen, resolve))
    const { buffer } = terminal
    const lines: string[] = []
    for (let at = 0; at < buffer.active.length; at++) {
      const line = buffer.active.getLine(at)
      const text = line?.translateToString(true) ?? ''
      if (line?.isWrapped) lines[lines.length - 1] += text
      else lines.push(text)
    }
    t.equal(lines.join('\n').trimEnd(), bare(screen).trimEnd(), name)
    const [last] = [buffer.active.getLine(buffer.active.baseY + buffer.active.cursorY)?.getCell(0)]
    t.ok(last?.isAttributeDefault(), `${name}: no look is left on`)
    terminal.dispose()
  }
})

t.test('tmux', async (t) => {
  if ((await shell('command -v tmux')).status !== 0) return t.pass('there is no tmux here')
  const directory = t.testdir({})
  const screens = cases.map(rendered).join('')
  writeFileSync(join(directory, 'screen'), screens)
  const session = 'tmux -f /dev/null -S "$1/socket"'
  const { stdout } = await shell(
    `${session} new-session -d -x ${WIDTH} -y 24 "sleep 60" \\; set -g history-limit 20000 \\; new-window "cat '$1/screen'; touch '$1/done'; sleep 60"
    for i in $(seq 100); do [ -e "$1/done" ] && break; sleep .1; done; sleep .2
    ${session} capture-pane -p -J -S -; ${session} kill-server`,
    [directory],
    { env: { LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' } },
  )
  // A cell of tmux has room for 21 bytes.
  const lines = (text: string) =>
    text
      .replace(/[\u{e0020}-\u{e007f}]/gu, '')
      .split('\n')
      .map((line) => line.trimEnd())
  t.same(lines(stdout.toString().trimEnd()), lines(bare(screens).trimEnd()))
})
