import { cpSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { lockSession } from '../src/session-lock.js'
import { Store } from './support/store.js'

const TEXT = frames(['TEXT', 'x'])

/** A writer of session `s` that has begun, and waits for more. */
async function writer(store: Store) {
  const child = store.start(['--session', 's'])
  child.stdin.write(frames(['TEXT', 'held']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const lock = readdirSync(dirname(await store.log('s'))).find((name) => name.startsWith('lock.'))
  return { child, lock: lock as string, closed: new Promise((resolve) => child.on('close', resolve)) }
}

t.test('a second writer is refused before anything is written, and told who holds the session', async (t) => {
  const store = new Store(t)
  const { child, closed } = await writer(store)
  const path = await store.log('s')
  const before = readFileSync(path)
  for (const args of [['--session', 's'], ['--continue']]) {
    const ended = await store.run(args, { input: TEXT })
    t.equal(ended.status, 75)
    t.match(ended.stderr, new RegExp(`^event-store: session s is being written by process ${child.pid}: [^\\n]*\\n$`))
    t.match(fieldsOf(ended.stdout), [['ERROR', /is being written by/, 'code', 'not_recorded']], 'the frame does not go on, an ERROR does')
  }
  t.ok(readFileSync(path).equals(before))
  t.equal((await store.run(['--session', 'other'], { input: TEXT })).status, 0)
  child.stdin.end(frames(['STOP', 'end_turn']))
  t.equal(await closed, 0)
  t.equal((await store.run(['--session', 's'], { input: TEXT })).status, 0)
  t.equal((await store.records('s')).length, 3)
})

t.test('the lock of a killed owner is taken over at once', async (t) => {
  const store = new Store(t)
  const { child, lock, closed } = await writer(store)
  child.kill('SIGKILL')
  await closed
  const directory = dirname(await store.log('s'))
  t.ok(readdirSync(directory).includes(lock), 'it left its lock')
  t.match(await store.run(['--session', 's'], { input: TEXT }), { status: 0, stderr: '' })
  t.same(readdirSync(directory), ['events.jsonl'])
})

t.test('a number that is used again, an earlier start of the machine, a copied session: no lock', async (t) => {
  const store = new Store(t)
  const { child, lock, closed } = await writer(store)
  const directory = dirname(await store.log('s'))
  const copy = join(dirname(directory), 'copy')
  cpSync(directory, copy, { recursive: true })
  t.ok(readdirSync(copy).includes(lock))
  t.match(await store.run(['--session', 'copy'], { input: TEXT }), { status: 0, stderr: '' })
  t.same(readdirSync(copy), ['events.jsonl'])
  child.stdin.end()
  await closed
  const [, pid, start, boot, inode, namespace, machine] = lock.split('.')
  const place = `${inode}.${namespace}.${machine}`
  for (const stale of [`lock.${process.pid}.${start}.${boot}.${place}`, `lock.${pid}.${start}.${boot}.${place}`, `lock.1.0.00000000.${place}`]) {
    writeFileSync(join(directory, stale), '')
    const release = lockSession(directory)
    t.notOk(readdirSync(directory).includes(stale), stale)
    release()
    t.same(readdirSync(directory), ['events.jsonl'])
  }
})

t.test('an owner on another machine, or in a container: what we cannot see counts as long as it touches its lock', async (t) => {
  const store = new Store(t)
  const { child, lock, closed } = await writer(store)
  const directory = dirname(await store.log('s'))
  child.stdin.end()
  await closed
  const [, pid, start, boot, inode, , machine] = lock.split('.')
  const old = new Date(Date.now() - 3_600_000)
  for (const other of [`lock.${pid}.${start}.${boot}.${inode}.1.${machine}`, `lock.${pid}.${start}.00000000.${inode}.1.00000000`]) {
    writeFileSync(join(directory, other), '')
    t.throws(() => lockSession(directory), { status: 75, message: /process \d+ on another machine or in another container/ }, other)
    t.same(readdirSync(directory).sort(), ['events.jsonl', other])
    utimesSync(join(directory, other), old, old)
    lockSession(directory)()
    t.same(readdirSync(directory), ['events.jsonl'])
  }
})

t.test('case 39: many writers at once, 1,000 events of 20 KB each: one is first, every line parses, no event of it is missing', async (t) => {
  const store = new Store(t)
  const event = (writer: number, index: number) => ['TEXT', `${writer}:${index}:${'x'.repeat(20_000)}`]
  const ended = await Promise.all(
    [0, 1].map((writer) => store.run(['--session', 's'], { input: frames(...Array.from({ length: 1000 }, (_, index) => event(writer, index))) })),
  )
  const statuses = ended.map(({ status }) => status)
  t.ok(statuses.includes(0))
  t.same(
    statuses.filter((status) => status !== 0 && status !== 75),
    [],
  )
  const records = await store.records('s')
  const winners = statuses.flatMap((status, writer) => (status === 0 ? [writer] : []))
  t.equal(records.length, winners.length * 1000)
  t.same(
    records.map(({ seq }) => seq),
    records.map((_, index) => index + 1),
  )
})
