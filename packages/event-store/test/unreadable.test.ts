import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { linesOf, Store, textLine } from './support/store.js'

const OLD = '2020-01-01T00:00:00.000Z'

t.test('a log that cannot be read: the other sessions are used, one line says which one is not', async (t) => {
  const store = new Store(t)
  await store.write('good', textLine(1, 'words', OLD))
  const bad = await store.write('bad', '')
  rmSync(bad)
  mkdirSync(bad)
  const told = new RegExp(`^event-store: cannot read ${bad}: it is not a file\n$`)
  for (const [args, printed] of [
    [['search', 'words'], /^good:1:text: words\n$/],
    [['stats'], /^1 session, 0 turns, 1 event/],
    [['verify'], /^good: 1 event\n$/],
    [['prune', '--older-than', '1d', '-n'], /^would remove good, last event 2020-01-01\n$/],
  ] as const) {
    const { status, stdout, stderr } = await store.read(args)
    t.match({ status, stdout: stdout.toString(), stderr }, { status: 66, stdout: printed, stderr: told }, args.join(' '))
  }
  t.match(await store.read(['stats', 'bad']), { status: 66, stderr: told })
  t.equal((await store.read(['stats', 'bad'])).stdout.toString(), '')
})

t.test('a project that cannot be read, and what is none: the others are used', async (t) => {
  const store = new Store(t)
  await store.write('here', textLine(1, 'words'))
  await store.write('there', textLine(1, 'words'), t.testdir())
  const projects = store.path('state', 'agentpipe', 'projects')
  writeFileSync(`${projects}/.DS_Store`, '')
  const loop = `${projects}/loop`
  symlinkSync(loop, loop)
  const { status, stdout, stderr } = await store.read(['list', '--all'])
  t.equal(status, 0)
  t.equal(linesOf(stdout.toString()).length, 2)
  t.match(stderr, /^event-store: cannot read [^\n]*loop: [^\n]*\n$/)
  t.match(await store.read(['path', 'there']), { status: 0, stderr: /loop/ })
  t.match(await store.read(['path', 'here']), { status: 0, stderr: '' }, 'what is here is not looked for elsewhere')
})

t.test('what is left out of a damaged log is told of by every verb that reads it', async (t) => {
  const store = new Store(t)
  await store.write('s', `${textLine(1, 'a')}junk\n${textLine(3, 'b').trimEnd()}`)
  for (const args of [
    ['stats', 's'],
    ['export', 's', '--format', 'jsonl'],
    ['export', 's'],
    ['search', 'a', 's'],
    ['fork', 's', '--session', 'f'],
    ['follow', 's', '--once'],
  ]) {
    t.match(
      await (args[0] === 'follow' ? store.run(args) : store.read(args)),
      { status: 0, stderr: /^event-store: [^\n]*line (2|at byte \d+): not JSON: left out\n$/ },
      args.join(' '),
    )
  }
  t.ok((await store.run(['follow', 's', '--once'])).stdout.equals(frames(['TEXT', 'a'], ['TEXT', 'b'])), 'a whole last record without LF counts')
  t.same(
    (await store.records('f')).map(({ seq }) => seq),
    [1, 3],
  )
})

t.test('what would surprise is refused: an age without a unit, a fork of nothing', async (t) => {
  const store = new Store(t)
  const log = await store.write('s', textLine(1, 'a', OLD))
  t.match(await store.read(['prune', '--older-than', '5']), { status: 64, stderr: /expected a time like 90d, 12h or 2w, found "5"/ })
  t.ok(existsSync(log))
  t.match(await store.read(['fork', 's', '--at', '0']), { status: 64, stderr: /expected the number of an event, 1 or more/ })
  t.same(store.sessions(), ['s'])
  t.match(await store.read(['fork', 's', '--session', 's']), { status: 73, stderr: /there is a session s already/ })
})
