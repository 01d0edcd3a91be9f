import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually, shell } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logPath } from './support/agent.js'
import { capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'
import { Terminal } from './support/terminal.js'
import { noTmux, Tmux } from './support/tmux.js'

const ANSWER = capture({ text: 'answer' })
const EVIL = String.raw`printf "evil\t\033]0;title\007\033[2J\377\r\n\342\200\256end" >&2; exec cat`

t.test('what stages say has their names, cannot act on a terminal, and is kept in the session', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const said = ['after-event-store-2: opened', 'after-event-store: \\u202eend', 'after-event-store: evil\t\\x1b]0;title\\x07\\x1b[2J�', 'tool-runner: own']
  const { status, stdout, stderr } = await agent(workspace, [
    ...['--after', `event-store=${EVIL}`],
    ...['--after', 'event-store=echo opened >/dev/stderr; exec cat'],
    ...['--stage', 'tool-runner=echo tool-runner: own >&2; exec tool-runner', 'go'],
  ])
  t.equal(status, 0)
  t.notMatch(stdout.toString(), /evil|opened|own/)
  t.same(stderr.trimEnd().split('\n').sort(), said)
  const kept = join(dirname(logPath(workspace)), 'stderr.log')
  t.same(
    readFileSync(kept, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\S{24} /, ''))
      .sort(),
    said,
  )
  t.equal(statSync(kept).mode & 0o777, 0o600)
  t.same(await leftovers(workspace), [])
})

t.test('a run in which nobody said anything keeps nothing', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  t.match(await agent(workspace, ['go']), { status: 0, stderr: '' })
  t.notOk(existsSync(join(dirname(logPath(workspace)), 'stderr.log')))
})

t.test('on a terminal it comes behind what is drawn', async (t) => {
  const loud = 'agentpipe --provider replay --from model.resp --after "agent-loop=echo loud >&2; exec cat" go'
  const terminal = new Terminal(t, loud, [{ text: 'answer' }])
  await terminal.ended
  t.match(terminal.screen, /answer\r\n[^\n]*after-agent-loop: loud\r\n$/)
})

t.test('interactively it is drawn, and kept as well', { skip: noTmux }, async (t) => {
  const tmux = new Tmux(t, capture({ text: 'answer' }))
  t.ok(await tmux.start("--after tool-runner='echo aside >&2; exec cat'"))
  tmux.type('go')
  tmux.press('Enter')
  t.ok(await tmux.shows('answer'))
  t.ok(await tmux.shows('after-tool-runner: aside'))
  tmux.press('C-d')
  const kept = join(dirname(logPath(tmux.workspace)), 'stderr.log')
  const said = await eventually(() => existsSync(kept) && readFileSync(kept, 'utf8'), 15_000) // false, then still empty, then said
  t.match(said, /^[-0-9T:.]+Z after-tool-runner: aside\n$/)
})

t.test('a stage that says very much: it is all passed on, the log keeps the beginning and the end', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  writeFileSync(workspace.path('loud'), 'seq -f %0100g 3000 >&2; exec cat')
  const { status, stderr } = await agent(workspace, ['--after', 'agent-loop=exec sh loud', 'go'])
  t.equal(status, 0)
  const lines = stderr.trimEnd().split('\n')
  t.equal(lines.length, 3000)
  t.equal(lines.at(-1), `after-agent-loop: ${'3000'.padStart(100, '0')}`)
  const kept = readFileSync(join(dirname(logPath(workspace)), 'stderr.log'), 'utf8')
  t.match(kept, /after-agent-loop: 0+1\n/)
  t.match(kept, /agentpipe: \d+ lines are left out here\n/)
  t.ok(kept.endsWith('03000\n'))
  t.ok(kept.length < 400_000)
})

t.test('a reader of standard error that reads nothing, and one that has left', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const loud = `agentpipe --provider replay --from model.resp --after 'agent-loop=seq -f %0100g 3000 >&2; exec cat' go`
  t.match(await shell(`${loud} 2> >(exec true)`, [], inside(workspace)), { status: 0, stdout: /answer/ })
  t.match(await shell(`${loud} 2>&1 >answer | { sleep 0.5; wc -l; }; cat answer`, [], inside(workspace)), { stdout: /3000\n> go\n\nanswer/ })
})

t.test('--output-format json: why a run never began stands in errors', async (t) => {
  const errors = async (args: readonly string[], env = {}) => {
    const { status, stdout, stderr } = await agent(new Workspace(t, ANSWER), ['--output-format=json', ...args], { env })
    const report = JSON.parse(stdout.toString())
    t.match(report, { text: '', stop_reason: null, session_id: null, turns: 0 })
    t.equal(report.errors.map((line: string) => `${line}\n`).join(''), stderr)
    return [status, report.errors.join('\n')]
  }
  t.match(await errors(['go'], { AGENTPIPE_AGENT_LOOP_MAX_TURNS: 'x' }), [64, /^agent-loop: AGENTPIPE_AGENT_LOOP_MAX_TURNS: expected a whole number/])
  t.match(await errors(['--from', 'none.resp', 'go']), [66, /^agent-loop: .*none\.resp/])
  t.match(await errors([]), [64, /^agentpipe: a prompt is needed/])
  t.match(await errors(['--continue', 'go']), [66, /^event-store: there is no session of this directory yet/])
  t.match(await errors(['--after', 'agent-loop=exit 5', 'go']), [5, 'agentpipe: after-agent-loop failed first, with status 5'])
})

t.test('--output-format json of a run that went well is what resp-render says, and so is what stands in its place', async (t) => {
  const { stdout } = await agent(new Workspace(t, ANSWER), ['--output-format=json', 'go'])
  t.match(JSON.parse(stdout.toString()), { text: 'answer', errors: [] })
  const replaced = await agent(new Workspace(t, ANSWER), ['--output-format=json', '--stage', 'resp-render=wc -c; exit 3', 'go'])
  t.match(replaced, { status: 3, stdout: /^\d+\n$/ })
})
