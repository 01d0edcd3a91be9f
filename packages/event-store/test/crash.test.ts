import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { FrameDecoder } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { readLog } from '../src/log-reader.js'
import { Store } from './support/store.js'

const KILLS = Number(process.env.STORE_KILLS ?? 12)
/** Kills of one session: its log is not to grow without end. */
const EACH = 50

t.setTimeout(60_000 + KILLS * 2000)

/** A writer of the session that is killed at a random moment; `number` of the first event to send. Gives the next number, and those that came out. */
async function killed(store: Store, number: number) {
  const out: number[] = []
  let sent = number
  const child = store.start(['--session', 's'])
  const decoder = new FrameDecoder()
  child.stdout.on('data', (chunk: Buffer) => decoder.push(chunk, (frame) => out.push(Number.parseInt(frame.text(1) as string, 10))))
  child.stdin.on('error', () => {})
  const closed = new Promise((resolve) => child.on('close', resolve))
  await new Promise<void>((resolve) => {
    child.stdout.once('data', () => setTimeout(resolve, Math.random() * 30))
    const feed = () => {
      while (
        child.stdin.writable &&
        child.stdin.write(frames(['TEXT', `${sent++}:${'x'.repeat(Math.random() < 0.99 ? 30 : Math.random() < 0.8 ? 300_000 : 1_500_000)}`]))
      ) {}
      if (child.stdin.writable) child.stdin.once('drain', feed)
    }
    feed()
  })
  child.kill('SIGKILL')
  await closed
  return { sent, out }
}

t.test(`killed ${KILLS} times in mid-stream: every frame that came out is in the log, and the next run goes on`, async (t) => {
  let came = 0
  for (let done = 0; done < KILLS; done += EACH) {
    const store = new Store(t)
    const out = new Set<number>()
    let number = 0
    for (let kill = done; kill < Math.min(done + EACH, KILLS); kill++) {
      const run = await killed(store, number)
      number = run.sent
      for (const each of run.out) out.add(each)
    }
    came += out.size
    t.equal((await store.run(['--session', 's'], { input: frames(['STOP', 'end_turn']) })).status, 0)
    let last = 0
    for (const { record, frame } of readLog(await store.log('s'), (where, damage) => t.fail(`${where}: ${damage}`))) {
      if (record.seq !== ++last) t.fail(`${record.seq} follows ${last - 1}`)
      out.delete(Number.parseInt(frame.text(1) as string, 10))
    }
    t.same([...out], [], 'what came out and is not in the log')
    rmSync(store.directory, { recursive: true })
  }
  t.ok(came > KILLS)
})

t.test('each event is in the log before its frame comes out, alone or among many', async (t) => {
  const store = new Store(t)
  const child = store.start(['--session', 's', '--fsync', 'always'])
  const log = new Promise<string>((resolve) => {
    child.stdout.once('data', () => resolve(store.log('s')))
  })
  child.stdin.write(frames(['TEXT', 'first']))
  const path = await log
  const decoder = new FrameDecoder()
  let late = 0
  let seen = 0
  child.stdout.on('data', (chunk: Buffer) => {
    const text = readFileSync(path, 'utf8')
    decoder.push(chunk, (frame) => {
      seen++
      if (!text.includes(JSON.stringify(frame.text(1)))) late++
    })
  })
  for (let index = 0; index < 300; index++) {
    child.stdin.write(frames(['TEXT', `event ${index}`]))
    if (index % 3 === 0) await sleep(1)
  }
  child.stdin.end()
  await new Promise((resolve) => child.on('close', resolve))
  t.equal(seen, 300)
  t.equal(late, 0)
  t.ok(existsSync(path))
})

t.test('SIGTERM: what was read is recorded, and it ends by the signal', async (t) => {
  const store = new Store(t)
  const child = store.start(['--session', 's'])
  child.stdin.write(frames(['TEXT', 'one']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGTERM')
  t.same(await new Promise((resolve) => child.on('close', (status, signal) => resolve([status, signal]))), [null, 'SIGTERM'])
  t.equal((await store.records('s')).length, 1)
  t.equal((await store.run(['--session', 's'], { input: frames(['TEXT', 'two']) })).status, 0, 'its lock does not stand in the way')
  t.equal((await store.records('s')).length, 2)
})
