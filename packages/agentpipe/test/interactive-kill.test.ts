import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { bash, capture } from './support/capture.js'
import { running, runningAs, runsNow } from './support/processes.js'
import { noTmux, Tmux } from './support/tmux.js'

const model = capture(bash('sleep 985'), { text: 'never said' })

/** What a command line holds by which a process is known. */
const ALL: Readonly<Record<string, string>> = {
  'user-prompt': '/user-prompt',
  'agent-loop': '/agent-loop',
  'resp-render': '/resp-render --tty',
  agentpipe: '/agentpipe --provider',
  'the shell of the stages': '/bin/sh -s',
  'tool-runner': '/tool-runner',
  'event-store': '/event-store',
}
// make soak kills each of them.
const some = process.env.KILLS === 'all' ? Object.keys(ALL) : ['user-prompt', 'agentpipe', 'the shell of the stages']

for (const name of some) {
  t.test(`kill -9 of ${name} in mid-turn: the terminal is sane, and all is gone`, { skip: noTmux }, async (t) => {
    const terminal = new Tmux(t, model)
    t.ok(await terminal.start(), terminal.screen)
    terminal.type('run')
    terminal.press('Enter')
    t.ok(await eventually(() => runsNow(terminal.workspace, 'sleep 985'), 15_000), terminal.screen)
    const [first] = runningAs(terminal.workspace, ALL[name] as string)
    if (first === undefined) return t.fail(`${name} does not run`)
    process.kill(first.pid, 'SIGKILL')
    const left = () => running(terminal.workspace).filter(({ command }) => !/^(tmux|bash) /.test(command))
    await eventually(() => left().length === 0, 15_000)
    t.same(
      left().map(({ command }) => command),
      [],
    )
    t.ok(await terminal.isSane(), terminal.screen)
  })
}
