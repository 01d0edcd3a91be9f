import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { logged } from './support/agent.js'
import { bash, type Response } from './support/capture.js'
import { leftovers, runsNow } from './support/processes.js'
import { Terminal } from './support/terminal.js'

const LINE = `mkfifo back
(trap '' INT; exec resp write USER_INPUT go) | resp merge - back |
  agent-loop --provider replay --from model.resp | tool-runner | event-store --session s | tee -i back | resp-render`

const CHEAP = `mkfifo back; resp write USER_INPUT go >prompt
(trap '' INT; exec cat prompt back) |
  agent-loop --provider replay --from model.resp --once | tool-runner | event-store --session s | tee -i back | resp-render`

const AGENTPIPE = 'exec agentpipe --provider replay --from model.resp go'

const waiting = bash('echo started; sleep 985')
/** Text that takes its time to go through the pipeline; should it be over on a busy machine, a command still runs. */
const streaming: Response = { ...bash('sleep 984'), text: Array.from({ length: 60_000 }, (_, n) => `word ${n} `) }

const forms = Object.entries({ 'the line': LINE, 'the cheap form': CHEAP, agentpipe: AGENTPIPE })
// make soak tries both moments with each form; agentpipe's is made as the cheap one is.
const everything = process.env.KILLS === 'all'

for (const [form, line] of forms.filter(([form]) => everything || form === 'the line')) {
  t.test(`Ctrl-C at a terminal while a command runs: ${form}`, async (t) => {
    const terminal = new Terminal(t, line, [waiting, { text: 'never said' }])
    await eventually(() => runsNow(terminal.workspace, 'sleep 985'), 15_000)
    await terminal.pressCtrlC()
    t.match(terminal.screen, 'started', 'what the command had printed is on the screen')
    t.match(terminal.screen, /interrupted/, 'the screen ends in the interruption')
    t.match(logged(terminal.workspace).at(-1), { type: 'stop', reason: 'interrupted' }, 'the log ends in STOP interrupted')
    t.match(
      logged(terminal.workspace).find(({ type }) => type === 'tool_result'),
      { status: 'cancelled', content: /started/ },
    )
    t.same(await leftovers(terminal.workspace), [])
  })
}

for (const [form, line] of forms.filter(([form]) => everything || form !== 'the line')) {
  t.test(`Ctrl-C at a terminal while text streams: ${form}`, async (t) => {
    const terminal = new Terminal(t, line, [streaming])
    await eventually(() => /word\s+1000\s/.test(terminal.screen.slice(0, 40_000)), 15_000)
    await terminal.pressCtrlC()
    t.match(logged(terminal.workspace).at(-1), { type: 'stop', reason: 'interrupted' })
    t.match(terminal.screen.slice(-500), /interrupted/)
    t.same(await leftovers(terminal.workspace), [])
  })
}

t.test('Ctrl-C again and again loses nothing', async (t) => {
  const terminal = new Terminal(t, AGENTPIPE, [waiting])
  await eventually(() => runsNow(terminal.workspace, 'sleep 985'), 15_000)
  for (let time = 0; time < 5; time++) terminal.type('\x03')
  await terminal.ended
  t.match(terminal.screen, /started[\s\S]*interrupted/, 'what the command had printed is on the screen, which ends in the interruption')
  t.match(
    logged(terminal.workspace).find(({ type }) => type === 'tool_result'),
    { status: 'cancelled', content: /started/ },
  )
  t.match(logged(terminal.workspace).at(-1), { type: 'stop', reason: 'interrupted' })
  t.same(await leftovers(terminal.workspace), [])
})
