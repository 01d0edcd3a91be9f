import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { everyCut, fieldsOf, fixture, frames } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

const FIXTURES = [
  ['seed-writer', 'all-types.resp'],
  ['seed-writer', 'deltas.resp'],
  ['seed-writer', 'large-result.resp'],
  ['redis-client', 'commands.resp'],
] as const

for (const names of FIXTURES) {
  t.test(`${names.join('/')} passes byte for byte, and so does its replay`, async (t) => {
    const store = new Store(t)
    const input = readFileSync(fixture(...names))
    const recorded = await store.run(['--session', 's'], { input })
    t.match(recorded, { status: 0, stderr: '' })
    t.ok(recorded.stdout.equals(input))
    const replayed = await store.read(['replay', 's'])
    t.match(replayed, { status: 0, stderr: '' })
    t.ok(replayed.stdout.equals(input), 'all of these are events')
  })
}

t.test('input cut at every byte', async (t) => {
  const store = new Store(t)
  const once = Buffer.concat([readFileSync(fixture('redis-client', 'commands.resp')), frames(['TEXT', 'é漢😀'], ['TEXT', ''], ['TEXT', 'x\r\ny'])])
  const child = store.start(['--session', 's'])
  const output: Buffer[] = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  let times = 0
  for (const cut of everyCut(once)) {
    times++
    for (const piece of cut) {
      child.stdin.write(piece)
      await sleep(1)
    }
  }
  child.stdin.end()
  t.equal(await ended, 0)
  t.ok(Buffer.concat(output).equals(Buffer.concat(Array(times).fill(once))))
  t.ok((await store.read(['replay', 's'])).stdout.equals(Buffer.concat(output)))
  t.same(
    (await store.records('s')).map(({ seq }) => seq),
    Array.from({ length: times * 8 }, (_, index) => index + 1),
  )
})

t.test('commands, control frames and unknown types pass and are not recorded; HELLO is', async (t) => {
  const store = new Store(t)
  const input = frames(
    ['TOOL_DEF', 'Read', 'reads', '{}'],
    ['HELLO', '1', 's1', 'model', 'm'],
    ['USER_INPUT', 'hi'],
    ['USER_MESSAGE', 'hi'],
    ['PERMISSION', 'c1', 'allow'],
    ['A_NEW_TYPE', 'x', Buffer.from([0, 255])],
    ['HISTORY', 'TEXT', 'x'],
    ['ERROR', 'of another stage', 'source', 'tool-runner'],
    ['STOP', 'end_turn'],
  )
  const ended = await store.run([], { input })
  t.match(ended, { status: 0, stderr: '' })
  t.ok(ended.stdout.equals(input))
  t.same(
    (await store.records('s1')).map(({ type }) => type),
    ['hello', 'user_message', 'error', 'stop'],
  )
})

t.test('a stream without events leaves nothing behind', async (t) => {
  const store = new Store(t)
  const input = frames(['USER_INPUT', 'hi'], ['END'])
  t.ok((await store.run([], { input })).stdout.equals(input))
  t.match(await store.run([]), { status: 0, stderr: '' })
  t.same(store.sessions(), [])
})

t.test('an 8 MiB result, and fields that are not text', async (t) => {
  const store = new Store(t)
  const large = Buffer.alloc(8 * 1024 * 1024, 'line of output\n')
  const binary = Buffer.from([0, 1, 0xff, 0xfe, 0x0d, 0x0a])
  const input = frames(
    ['TOOL_RESULT', 'c1', 'Bash', large, 'status', 'ok', 'own', binary],
    ['TEXT', binary],
    ['TOOL_CALL', 'Bash', 'c2', '{"a" : 1}', 'a', '2'],
  )
  const ended = await store.run(['--session', 's'], { input })
  t.equal(ended.status, 0)
  t.ok(ended.stdout.equals(input))
  t.ok((await store.read(['replay', 's'])).stdout.equals(input))
})

t.test('malformed input: what came before is recorded and passed, then ERROR and 65', async (t) => {
  const store = new Store(t)
  const good = frames(['TEXT', 'one'])
  for (const [session, bad, offset] of [
    ['junk', '*2\r\n$4\r\nTEXT\r\n$x', 33],
    ['cut', '*2\r\n$4\r\nTEXT\r\n$10\r\nhello', 41],
    ['few', '*2\r\n$10\r\nTOOL_CALL\r\n\r\n$1\r\nx\r\n', 29],
  ] as const) {
    const ended = await store.run(['--session', session], { input: Buffer.concat([good, Buffer.from(bad)]) })
    t.equal(ended.status, 65, session)
    t.match(ended.stderr, /^event-store: .* byte \d+/)
    t.equal(ended.stderr.split('\n').length, 2, 'one line')
    const [first, error] = fieldsOf(ended.stdout)
    t.same(first, ['TEXT', 'one'])
    t.equal(error?.[0], 'ERROR')
    t.equal((await store.records(session)).length, 1, 'its own ERROR is not recorded')
    t.ok(offset > 0)
  }
  const few = await store.run(['--session', 'x'], { input: Buffer.concat([good, frames(['TOOL_CALL', 'Bash'])]) })
  t.match(few, { status: 65, stderr: /TOOL_CALL with 3 fields/ })
  t.equal((await store.records('x')).length, 1)
})

t.test('SIGINT changes nothing: it goes on to the end of its input', async (t) => {
  const store = new Store(t)
  const child = store.start(['--session', 's'])
  const output: Buffer[] = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.stdin.write(frames(['TEXT', 'one']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGINT')
  child.kill('SIGINT')
  child.stdin.end(frames(['STOP', 'interrupted']))
  t.equal(await ended, 0)
  t.same(fieldsOf(Buffer.concat(output)), [
    ['TEXT', 'one'],
    ['STOP', 'interrupted'],
  ])
  t.equal((await store.records('s')).length, 2)
})
