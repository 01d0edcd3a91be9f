import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
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
  const [, pid, start, boot, inode] = lock.split('.')
  for (const stale of [`lock.${process.pid}.${start}.${boot}.${inode}`, `lock.${pid}.${start}.${boot}.${inode}`, `lock.1.0.00000000.${inode}`]) {
    writeFileSync(join(directory, stale), '')
    t.match(await store.run(['--session', 's'], { input: TEXT }), { status: 0, stderr: '' }, stale)
    t.same(readdirSync(directory), ['events.jsonl'])
  }
})

t.test('case 39: many writers at once, each event of 20 KB: one is first, every line parses, no event of it is missing', async (t) => {
  const store = new Store(t)
  const event = (writer: number, index: number) => ['TEXT', `${writer}:${index}:${'x'.repeat(20_000)}`]
  const ended = await Promise.all(
    [0, 1, 2, 3].map((writer) => store.run(['--session', 's'], { input: frames(...Array.from({ length: 250 }, (_, index) => event(writer, index))) })),
  )
  const statuses = ended.map(({ status }) => status)
  t.ok(statuses.includes(0))
  t.same(
    statuses.filter((status) => status !== 0 && status !== 75),
    [],
  )
  const records = await store.records('s')
  const winners = statuses.flatMap((status, writer) => (status === 0 ? [writer] : []))
  t.equal(records.length, winners.length * 250)
  t.same(
    records.map(({ seq }) => seq),
    records.map((_, index) => index + 1),
  )
})
