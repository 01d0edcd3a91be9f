import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

t.test('a full disk: no frame goes on that is not recorded, ERROR does, status 74', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', '')
  unlinkSync(path)
  symlinkSync('/dev/full', path)
  const ended = await store.run(['--session', 's'], { input: frames(['USER_INPUT', 'passes'], ['TEXT', 'lost?'], ['STOP', 'end_turn']) })
  t.equal(ended.status, 74)
  t.match(ended.stderr, /^event-store: cannot write .*events\.jsonl: no space left on device\n$/)
  t.match(fieldsOf(ended.stdout), [
    ['USER_INPUT', 'passes'],
    ['ERROR', /^event-store: cannot write .*no space left/, 'code', 'not_recorded', 'source', 'event-store'],
  ])
})

t.test('ulimit -f: what is whole stays, what is torn is taken back, and the next run goes on', async (t) => {
  const store = new Store(t)
  const input = frames(...Array.from({ length: 200 }, (_, index) => ['TEXT', `${index}:${'x'.repeat(1000)}`]))
  const ended = await store.shell('ulimit -f 64; event-store --session s', [], { input })
  t.equal(ended.status, 74)
  t.match(ended.stderr, /^event-store: cannot write .*: file too large\n$/)
  const records = await store.records('s')
  const passed = fieldsOf(ended.stdout)
  t.ok(records.length > 10 && records.length < 200)
  t.same(
    passed.slice(0, -1).map(([, text]) => text),
    records.map(({ text }) => text),
    'exactly what is recorded went on',
  )
  t.equal(passed.at(-1)?.[0], 'ERROR')
  t.match(await store.run(['--session', 's'], { input: frames(['STOP', 'end_turn']) }), { status: 0, stderr: '' })
  t.equal((await store.records('s')).length, records.length + 1)
})

t.test('a state directory that cannot be made or written', async (t) => {
  const store = new Store(t)
  writeFileSync(store.path('file'), '')
  for (const dir of [store.path('file'), '/proc/nothing', `/${'x'.repeat(300)}`]) {
    const ended = await store.run(['--dir', dir, '--session', 's'], { input: frames(['TEXT', 'x']) })
    t.equal(ended.status, 74, dir)
    t.match(ended.stderr, /^event-store: cannot write [^\n]*\n$/)
    t.match(fieldsOf(ended.stdout), [['ERROR', /cannot write/]])
  }
  const path = await store.write('s', '')
  unlinkSync(path)
  mkdirSync(path)
  t.match(await store.run(['--session', 's'], { input: frames(['TEXT', 'x']) }), { status: 74, stderr: /is a directory|it is a directory/ })
  t.match(await store.read(['replay', 's']), { status: 66, stderr: /^event-store: cannot read [^\n]*\n$/ })
  t.match(await store.read(['list']), { status: 0, stdout: /\(cannot read/ })
})

t.test('a log that is removed meanwhile does not swallow events', async (t) => {
  const store = new Store(t)
  const child = store.start(['--session', 's'])
  child.stdin.write(frames(['TEXT', 'one']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  rmSync(dirname(await store.log('s')), { recursive: true })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stdin.write(frames(['TEXT', 'two']))
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 74)
  t.match(fieldsOf(Buffer.concat(output)), [['ERROR', /the file was removed/]])
})

t.test('the reader goes away: the rest is recorded all the same, status 0', async (t) => {
  const store = new Store(t)
  const input = frames(...Array.from({ length: 5000 }, (_, index) => ['TEXT', `event ${index} of many`]), ['STOP', 'end_turn'])
  const ended = await store.shell('event-store --session s | head -c 100 >/dev/null; exit $PIPESTATUS', [], { input })
  t.match(ended, { status: 0, stderr: '' })
  const records = await store.records('s')
  t.equal(records.length, 5001)
  t.equal(records.at(-1)?.type, 'stop')
  const replayed = await store.shell('event-store replay s | head -c 10 >/dev/null; exit $PIPESTATUS')
  t.match(replayed, { status: 0, stderr: '' })
})

t.test('a current directory that was removed', async (t) => {
  const store = new Store(t)
  t.match(await store.shell('mkdir gone; cd gone; rmdir ../gone; event-store --session s', [], { input: frames(['TEXT', 'x']) }), { status: 0 })
  t.same(store.sessions(), ['s'])
})
