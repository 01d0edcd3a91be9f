import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { FrameDecoder } from '@agentpipe/frame'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

const KILLS = 30

t.test(`killed ${KILLS} times in mid-stream: every frame that came out is in the log, and the next run goes on`, async (t) => {
  const store = new Store(t)
  const out: string[] = []
  let sent = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const child = store.start(['--session', 's'])
    const decoder = new FrameDecoder()
    child.stdout.on('data', (chunk: Buffer) => decoder.push(chunk, (frame) => out.push(frame.text(1) as string)))
    child.stdin.on('error', () => {})
    const closed = new Promise((resolve) => child.on('close', resolve))
    await new Promise<void>((resolve) => {
      child.stdout.once('data', () => setTimeout(resolve, Math.random() * 30))
      const feed = () => {
        while (child.stdin.writable && child.stdin.write(frames(['TEXT', `${sent++}:${'x'.repeat(Math.random() < 0.01 ? 300_000 : 30)}`]))) {}
        if (child.stdin.writable) child.stdin.once('drain', feed)
      }
      feed()
    })
    child.kill('SIGKILL')
    await closed
  }
  const last = await store.run(['--session', 's'], { input: frames(['STOP', 'end_turn']) })
  t.equal(last.status, 0)
  t.ok(out.length > KILLS)
  const records = await store.records('s')
  t.same(
    records.map(({ seq }) => seq),
    records.map((_, index) => index + 1),
    'numbers without a gap',
  )
  const logged = new Set(records.map(({ text }) => text))
  t.same(
    out.filter((text) => !logged.has(text)).map((text) => text.slice(0, 40)),
    [],
  )
  const replayed = await store.run(['replay', 's'])
  t.equal(replayed.stderr, '')
  t.equal(fieldsOf(replayed.stdout).length, records.length)
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
