import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, run } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logPath } from './support/agent.js'
import { capture, Workspace } from './support/capture.js'

const call = (name: string, input: unknown) => ({ calls: [{ name, input }] })
const write = (path: string, content: string) => call('Write', { path, content })
const edit = (path: string, from: string, to: string) => call('Edit', { path, old_string: from, new_string: to })
const undo = (workspace: Workspace, ...args: string[]) => run('agentpipe', ['undo', ...args], inside(workspace))

t.test('the last turn is taken back, then the one before it; the bytes and the mode are what they were', async (t) => {
  const bytes = Buffer.from([0xff, 0, 0x31, 0x0a])
  const workspace = new Workspace(t, capture(write('raw', 'first'), { text: 'done' }))
  writeFileSync(workspace.path('second.resp'), capture(write('new', 'a\n'), edit('new', 'a', 'b'), edit('old', 'one', 'two\u001b[2J'), { text: 'done' }))
  writeFileSync(workspace.path('raw'), bytes)
  writeFileSync(workspace.path('old'), 'one\n')
  chmodSync(workspace.path('old'), 0o640)
  t.match(await agent(workspace, ['--session=s', 'go']), { status: 0 })
  t.match(await agent(workspace, ['--from=second.resp', '--session=s', 'go on']), { status: 0 })
  t.equal(readFileSync(workspace.path('new'), 'utf8'), 'b\n')
  const kept = join(dirname(logPath(workspace)), 'before')
  t.equal(statSync(kept).mode & 0o777, 0o700)
  for (const name of readdirSync(kept)) t.equal(statSync(join(kept, name)).mode & 0o777, 0o600)

  const shown = await undo(workspace, '--dry-run')
  t.equal(shown.status, 0)
  t.match(shown.stdout.toString(), '\n-b\n')
  t.match(shown.stdout.toString(), '-two\\x1b[2J\n+one\n')
  t.equal(readFileSync(workspace.path('new'), 'utf8'), 'b\n', 'nothing has changed')

  t.match(await undo(workspace, 's'), { status: 0, stderr: '' })
  t.notOk(existsSync(workspace.path('new')))
  t.equal(readFileSync(workspace.path('old'), 'utf8'), 'one\n')
  t.equal(statSync(workspace.path('old')).mode & 0o777, 0o640)
  t.equal(readFileSync(workspace.path('raw'), 'utf8'), 'first')
  t.match(await undo(workspace), { status: 0 })
  t.ok(readFileSync(workspace.path('raw')).equals(bytes))
  t.match(await undo(workspace), { status: 66, stderr: 'agentpipe: no session of this directory has changed a file\n' })
  t.match(await undo(workspace, 's'), { status: 66, stderr: 'agentpipe: there is nothing left to take back\n' })
})

t.test('a file that has changed since is left as it is, the others are not', async (t) => {
  const workspace = new Workspace(t, capture(write('a', '1'), write('b', '1'), { text: 'done' }))
  writeFileSync(workspace.path('a'), 'before a')
  writeFileSync(workspace.path('b'), 'before b')
  t.match(await agent(workspace, ['go']), { status: 0 })
  writeFileSync(workspace.path('a'), 'mine')
  const { status, stdout, stderr } = await undo(workspace)
  t.equal(status, 1)
  t.match(stderr, /^agentpipe: .*\/a: it has been changed since: left as it is\n$/)
  t.match(stdout.toString(), /^restored .*\/b\n$/)
  t.equal(readFileSync(workspace.path('a'), 'utf8'), 'mine')
  t.equal(readFileSync(workspace.path('b'), 'utf8'), 'before b')
})

t.test('on another machine it is taken back there; sessions that event-store keeps elsewhere have it beside them', async (t) => {
  const workspace = new Workspace(t, capture(write('new', 'x'), { text: 'done' }))
  for (const name of ['stand-ins', "far 'away"]) mkdirSync(workspace.path(name))
  writeFileSync(workspace.path('stand-ins/ssh'), '#!/bin/sh\nwhile [ "$1" != box ]; do shift; done\nshift\n[ ! -e lost ] || exit 255\nexec sh -c "$*"\n')
  chmodSync(workspace.path('stand-ins/ssh'), 0o755)
  const on = `box:${workspace.path("far 'away")}`
  const env = {
    PATH: `${workspace.path('stand-ins')}:${root}/dist/bin:${process.env.PATH}`,
    AGENTPIPE_EVENT_STORE_DIR: workspace.path('elsewhere'),
    AGENTPIPE_AGENTPIPE_ON: on,
  }
  t.match(await agent(workspace, ['--session=s', 'go'], { env }), { status: 0, stderr: '' })
  const file = workspace.path("far 'away/new")
  t.equal(readFileSync(file, 'utf8'), 'x')
  t.notOk(existsSync(workspace.path('state')))
  const undone = await run('agentpipe', ['undo'], inside(workspace, { env }))
  t.match(undone, { status: 0, stderr: '', stdout: Buffer.from(`removed ${file}\n`) })
  t.notOk(existsSync(file))
  t.match(await run('agentpipe', ['undo', 's'], inside(workspace, { env })), { status: 66, stderr: 'agentpipe: there is nothing left to take back\n' })
  writeFileSync(workspace.path('lost'), '')
  t.match(await run('agentpipe', ['undo', '--on', 'box'], inside(workspace, { env })), {
    status: 69,
    stderr: 'agentpipe: no connection to box, or it was lost\n',
  })
  t.match(await run('agentpipe', ['undo', '--on', '-oProxyCommand=x'], inside(workspace)), { status: 64 })
})

t.test('no session, and one that is none', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  t.match(await undo(workspace), { status: 66, stderr: /^agentpipe: no session of this directory has changed a file\n$/ })
  t.match(await undo(workspace, '../x'), { status: 64 })
})
