import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, fieldsOf, frames, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { says } from './support/model.js'
import { Ring } from './support/ring.js'

const MEGABYTE = 1_000_000

t.test('50 MB of text out while 50 MB come in: no deadlock, whichever side stalls, and memory is bounded', async (t) => {
  const ring = new Ring(t, says('x'.repeat(50_000), 1000), { tools: [] })
  await ring.until('HELLO')
  ring.stall()
  ring.send(['USER_INPUT', 'talk'])
  const late = frames(['NEW_TYPE', 'y'.repeat(50_000)])
  ring.write(Buffer.alloc(late.length * 1000, late))
  t.ok(await ring.taken(), 'it reads on though nobody reads what it writes')
  ring.goOn()
  await ring.until('STOP')
  await ring.taken()
  // The capture and the conversation are 50 MB each; Node itself is 50, and what comes in waits for the garbage collector.
  t.ok(ring.peak < 450, `${ring.peak} MiB`)
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.equal(ring.all('TEXT').length, 1000)
  t.ok(ring.all('TEXT').every(([, text]) => text?.length === 50_000))
})

t.test('a field of 64 MiB goes round', async (t) => {
  const size = 64 * 1024 * 1024
  const ring = new Ring(t, says('z'.repeat(size)), { tools: [] })
  ring.send(['USER_INPUT', 'u'.repeat(size)])
  await eventually(() => ring.all('STOP').length === 1, 60_000)
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(
    ring.sent.map(([type, text]) => [type, type === 'TEXT' || type === 'USER_MESSAGE' ? text?.length : undefined]),
    [
      ['HELLO', undefined],
      ['USER_MESSAGE', size],
      ['TEXT', size],
      ['USAGE', undefined],
      ['STOP', undefined],
    ],
  )
})

t.test('an input that does not fit into a frame as text ends its turn, not the session', async (t) => {
  const ring = new Ring(t, Buffer.concat([says('One.'), says('Two.')]), { tools: [] })
  // Each of these bytes is no UTF-8: as text it is three bytes.
  ring.send(['USER_INPUT', Buffer.alloc(30 * MEGABYTE, 0xff)], ['USER_INPUT', 'next'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.types(), ['HELLO', 'ERROR', 'STOP', 'USER_MESSAGE', 'TEXT', 'USAGE', 'STOP'])
  t.match(ring.all('ERROR'), [['ERROR', /over the limit/]])
})

t.test('signals and input have their turn though the output never backs up', async (t) => {
  for (const how of ['SIGINT', 'INTERRUPT']) {
    const { child, output } = await intoFile(t)
    t.ok(await eventually(() => statSync(output).size > 100_000, 20_000))
    if (how === 'SIGINT') child.kill('SIGINT')
    else child.stdin?.write(frames(['INTERRUPT', 'n1']))
    child.stdin?.end()
    t.same(await once(child, 'close'), [130, null], how)
    t.same(fieldsOf(readFileSync(output)).at(-1), ['STOP', 'interrupted'])
  }
})

/** agent-loop with a model that talks for seconds, its output a file. */
async function intoFile(t: { testdir(): string; teardown(work: () => void): void }): Promise<{ child: ChildProcess; output: string }> {
  const directory = t.testdir()
  const output = join(directory, 'out.resp')
  writeFileSync(join(directory, 'model.resp'), says('word ', 2 * MEGABYTE))
  const environment = testEnvironment()
  const child = spawn('agent-loop', ['--no-tools', '--from', 'model.resp'], {
    cwd: directory,
    env: environment,
    stdio: ['pipe', openSync(output, 'w'), 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  child.stdin?.on('error', () => {})
  child.stdin?.write(frames(['USER_INPUT', 'talk']))
  return { child, output }
}
