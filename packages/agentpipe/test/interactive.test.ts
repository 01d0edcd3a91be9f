import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { bash, capture } from './support/capture.js'
import { leftovers, runsNow } from './support/processes.js'
import { noTmux, Tmux } from './support/tmux.js'

const model = Buffer.concat([
  capture({ text: 'The first answer.' }),
  capture(bash('sleep 988'), { text: 'never said' }),
  capture({ text: 'The third answer.' }),
])

t.test('a line is typed and answered, Ctrl-C interrupts, Ctrl-D leaves', { skip: noTmux }, async (t) => {
  const terminal = new Tmux(t, model)
  t.ok(await terminal.start(), terminal.screen)
  terminal.type('hello')
  t.ok(await terminal.shows(/^› hello$/m), terminal.screen)
  terminal.press('Enter')
  t.ok(await terminal.shows(/^> hello\n\nThe first answer\.\n› ask/m), terminal.screen)
  terminal.type('run')
  terminal.press('Enter')
  t.ok(await eventually(() => runsNow(terminal.workspace, 'sleep 988'), 10_000), terminal.screen)
  t.ok(await terminal.shows(/^› working/m))
  terminal.press('C-c')
  t.ok(await terminal.shows(/interrupted\n› ask/), terminal.screen)
  terminal.type('again')
  terminal.press('Enter')
  t.ok(await terminal.shows(/The third answer\.\n› ask/), terminal.screen)
  terminal.press('C-d')
  t.ok(await terminal.shows(/The third answer\.\n\$$/), terminal.screen)
  t.ok(await terminal.isSane(), terminal.screen)
  t.notMatch(terminal.screen, /failed|killed/)
  t.same(
    (await leftovers(terminal.workspace)).filter((command) => !/tmux|bash/.test(command)),
    [],
  )
})

t.test('--continue shows the last turns; /resume goes on with another session', { skip: noTmux }, async (t) => {
  const terminal = new Tmux(t, Buffer.concat([capture({ text: 'The first answer.' }), capture({ text: 'The second answer.' })]))
  t.ok(await terminal.start('--session one'), terminal.screen)
  terminal.type('hello')
  terminal.press('Enter')
  t.ok(await terminal.shows(/The first answer\.\n› ask/), terminal.screen)
  terminal.press('C-d')
  t.ok(await terminal.shows(/answer\.\n\$$/), terminal.screen)
  terminal.tmux('clear-history')
  terminal.type('clear')
  terminal.press('Enter')
  t.ok(await terminal.start('--continue'), terminal.screen)
  t.match(terminal.screen, /> hello\n\nThe first answer\.\n› ask/)
  terminal.type('/resume one')
  terminal.press('Enter')
  t.ok(await terminal.shows(/The first answer\.\n(?:.*\n)*> hello\n\nThe first answer\.\n› ask/), terminal.screen)
  terminal.press('C-d')
  t.ok(await terminal.shows(/answer\.\n\$$/), terminal.screen)
  t.ok(await terminal.isSane(), terminal.screen)
})
