import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { linesOf, Store, textLine } from './support/store.js'

t.test('a line is what the design says it is', async (t) => {
  const store = new Store(t)
  await store.run(['--session', 's'], {
    input: frames(['TOOL_RESULT', 'c1', 'Bash', 'out\n', 'status', 'ok', 'exit_code', '0', 'x', 'y'], ['TEXT', 'é\u2028']),
  })
  const lines = linesOf(readFileSync(await store.log('s'), 'utf8'))
  t.match(
    lines[0],
    /^\{"v":1,"seq":1,"ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","type":"tool_result","tool_use_id":"c1","name":"Bash","content":"out\\n","status":"ok","exit_code":0,"extra":\["x","y"\]\}$/,
  )
  t.match(JSON.parse(lines[1] as string), { v: 1, seq: 2, type: 'text', text: 'é\u2028' })
})

t.test("the log is the user's alone", async (t) => {
  const store = new Store(t)
  await store.shell('umask 0; event-store --session s', [], { input: frames(['TEXT', 'x']) })
  const log = await store.log('s')
  t.equal(statSync(log).mode & 0o777, 0o600)
  for (let path = dirname(log); path !== store.directory; path = dirname(path)) t.equal(statSync(path).mode & 0o777, 0o700, path)
  t.same(readdirSync(dirname(log)), ['events.jsonl'], 'the lock is gone')
})

t.test('numbers go on in a session that is there, with every --fsync', async (t) => {
  const store = new Store(t)
  for (const when of ['always', 'turn', 'never']) {
    const ended = await store.run(['--session', 's', `--fsync=${when}`], { input: frames(['TEXT', when], ['STOP', 'end_turn']) })
    t.match(ended, { status: 0, stderr: '' })
  }
  t.same(
    (await store.records('s')).map(({ seq, text }) => [seq, text]),
    [
      [1, 'always'],
      [2, undefined],
      [3, 'turn'],
      [4, undefined],
      [5, 'never'],
      [6, undefined],
    ],
  )
  t.match(await store.run(['--fsync', 'often']), { status: 64, stderr: /always, turn, never/ })
})

t.test('a torn last line is set aside, whole, when the log is next written', async (t) => {
  const store = new Store(t)
  const torn = textLine(3, 'a'.repeat(200_000)).slice(0, 150_000)
  const path = await store.write('s', textLine(1, 'one') + textLine(2, 'two') + torn)
  const ended = await store.run(['--session', 's'], { input: frames(['TEXT', 'three']) })
  t.match(ended, { status: 0, stderr: /^event-store: the last line of .* was torn: set aside as .*events\.jsonl\.torn-\S+\n$/ })
  t.same(
    (await store.records('s')).map(({ seq, text }) => [seq, text]),
    [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ],
  )
  const aside = readdirSync(dirname(path)).filter((name) => name.includes('.torn-'))
  t.equal(aside.length, 1)
  t.equal(readFileSync(join(dirname(path), aside[0] as string), 'utf8'), torn)
  t.equal(statSync(join(dirname(path), aside[0] as string)).mode & 0o777, 0o600)
})

t.test('cut at every byte of its last record: nothing whole is lost, every line parses afterwards', async (t) => {
  const store = new Store(t)
  const before = textLine(1, 'one')
  const last = textLine(2, 'two')
  const path = await store.write('s', '')
  for (const cut of [1, 2, 20, last.length - 3, last.length - 2]) {
    writeFileSync(path, before + last.slice(0, cut))
    await store.run(['--session', 's'], { input: frames(['TEXT', 'new']) })
    t.same(
      (await store.records('s')).map(({ seq, text }) => [seq, text]),
      [
        [1, 'one'],
        [2, 'new'],
      ],
      `${cut} bytes`,
    )
  }
  writeFileSync(path, before + last.slice(0, -1))
  const ended = await store.run(['--session', 's'], { input: frames(['TEXT', 'new']) })
  t.match(ended, { status: 0, stderr: '' })
  t.same(
    (await store.records('s')).map(({ seq, text }) => [seq, text]),
    [
      [1, 'one'],
      [2, 'two'],
      [3, 'new'],
    ],
    'a whole record that lacks its LF counts',
  )
})

t.test('NULs at the end, as a power cut leaves them', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', Buffer.concat([Buffer.from(textLine(7, 'one')), Buffer.alloc(100_000)]))
  await store.run(['--session', 's'], { input: frames(['TEXT', 'two']) })
  t.same(
    (await store.records('s')).map(({ seq }) => seq),
    [7, 8],
  )
  t.equal(readdirSync(dirname(path)).filter((name) => name.includes('.torn-')).length, 1)
})

t.test('reading changes nothing', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', `${textLine(1, 'one')}{"v":1,"seq":2`)
  const directory = dirname(path)
  chmodSync(path, 0o400)
  const before = statSync(path)
  for (const args of [
    ['list'],
    ['list', '--json', '--all'],
    ['replay', 's'],
    ['history', 's'],
    ['path', 'latest'],
    ['verify'],
    ['search', 'one'],
    ['export', 's'],
    ['stats'],
  ]) {
    t.equal((await store.read(args)).status, args[0] === 'verify' ? 65 : 0, args.join(' '))
  }
  const after = statSync(path)
  t.same([after.mtimeMs, after.ctimeMs, after.size], [before.mtimeMs, before.ctimeMs, before.size])
  t.same(readdirSync(directory), ['events.jsonl'])
  t.notOk(existsSync(store.path('state', 'agentpipe', 'index')))
})
