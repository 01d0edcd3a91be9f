import { readFileSync } from 'node:fs'
import { fieldsOf, fixture, frames } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

const INPUT = Buffer.concat([
  frames(['USER_INPUT', 'hi'], ['HELLO', '1', 's'], ['USER_MESSAGE', 'é\u2028\0']),
  readFileSync(fixture('seed-writer', 'all-types.resp')),
  readFileSync(fixture('redis-client', 'commands.resp')),
])

t.test('without a number: the lines that are appended, in place of frames', async (t) => {
  const store = new Store(t)
  const first = await store.run(['--stream-json'], { input: INPUT })
  t.match(first, { status: 0, stderr: '' })
  t.ok(first.stdout.equals(readFileSync(await store.log('s'))))
  const second = await store.run(['--stream-json=1', '--session', 's'], { input: INPUT })
  t.ok(Buffer.concat([first.stdout, second.stdout]).equals(readFileSync(await store.log('s'))))
  t.match(JSON.parse(second.stdout.toString().split('\n')[0] as string), { type: 'hello', v: 1 })
})

t.test('with a number: the lines there, frames on', async (t) => {
  const store = new Store(t)
  const ended = await store.shell('event-store --stream-json=3 3>lines', [], { input: INPUT })
  t.match(ended, { status: 0, stderr: '' })
  t.ok(ended.stdout.equals(INPUT))
  const log = readFileSync(await store.log('s'))
  t.ok(readFileSync(store.path('work', 'lines')).equals(log))
  const wired = await store.shell('event-store --session t --stream-json=3 3>&1 >frames', [], { input: INPUT })
  t.ok(wired.stdout.equals(readFileSync(await store.log('t'))), 'the third wiring of the design')
  t.ok(readFileSync(store.path('work', 'frames')).equals(INPUT))
})

t.test('a slow reader of the lines gets all of them; one that leaves takes nothing with it', async (t) => {
  const store = new Store(t)
  const input = frames(...Array.from({ length: 10_000 }, (_, index) => ['TEXT', `event ${index} of many, many events`]), ['STOP', 'end_turn'])
  const slow = await store.shell('event-store --session s --stream-json=3 3> >(sleep 0.5; cat >lines; echo done) >frames; wait $!', [], { input })
  t.equal(slow.status, 0)
  t.ok(readFileSync(store.path('work', 'lines')).equals(readFileSync(await store.log('s'))))
  t.ok(readFileSync(store.path('work', 'frames')).equals(input))
  const gone = await store.shell('event-store --session t --stream-json=3 3> >(head -c 10 >/dev/null)', [], { input })
  t.match(gone, { status: 0, stderr: '' })
  t.ok(gone.stdout.equals(input))
  t.equal((await store.records('t')).length, 10_001)
  const closed = await store.shell('event-store --session u --stream-json | head -c 10 >/dev/null; exit $PIPESTATUS', [], { input })
  t.match(closed, { status: 0, stderr: '' })
  t.equal((await store.records('u')).length, 10_001)
})

t.test('a descriptor that nobody gave us', async (t) => {
  const store = new Store(t)
  for (const [line, says] of [
    ['event-store --stream-json=3', /descriptor 3 is not open for writing/],
    ['event-store --stream-json=4', /descriptor 4 is not open/],
    ['event-store --stream-json=9', /descriptor 9 is not open/],
    ['event-store --stream-json=77', /descriptor 77 is not open/],
    ['event-store --stream-json=3 3</dev/zero', /descriptor 3 is not open for writing/],
    ['event-store --stream-json=x', /expected the number of a descriptor, found "x"/],
  ] as const) {
    const ended = await store.shell(line, [], { input: INPUT })
    t.match(ended, { status: 64, stderr: says }, line)
    t.equal(ended.stdout.length, 0)
  }
  t.same(store.sessions(), [])
})

t.test('lines that cannot be printed are an error, after everything is recorded', async (t) => {
  const store = new Store(t)
  const ended = await store.shell('event-store --stream-json=3 3>/dev/full', [], { input: INPUT })
  t.match(ended, { status: 74, stderr: 'event-store: cannot write to descriptor 3: no space left on device\n' })
  t.ok(ended.stdout.equals(INPUT))
  t.ok((await store.records('s')).length > 5)
})

t.test('no frame stands among the lines, whatever goes wrong', async (t) => {
  const store = new Store(t)
  const malformed = await store.run(['--stream-json', '--session', 's'], { input: Buffer.concat([frames(['TEXT', 'x']), Buffer.from('junk')]) })
  t.equal(malformed.status, 65)
  t.ok(malformed.stdout.equals(readFileSync(await store.log('s'))))
  const refused = await store.run(['--stream-json'], { input: frames(['HELLO', '1', '../x']) })
  t.match(refused, { status: 65, stdout: Buffer.alloc(0) })
  const framed = await store.run(['--session', 's'], { input: 'junk' })
  t.match(fieldsOf(framed.stdout), [['ERROR', /expected "\*" at byte 0/, 'code', 'malformed']])
})
