import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually, fieldsOf, frames, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { StartedStage, stagePath } from './support/stage.js'

const one = frames(['TEXT', 'one'])

/** A stage that has passed one frame. */
async function running(name: string, options?: ConstructorParameters<typeof StartedStage>[1]): Promise<StartedStage> {
  const stage = new StartedStage(name, options)
  stage.process.stdin.write(one)
  await eventually(() => stage.output.length > 0)
  return stage
}

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal}: what runs is cancelled, what is written goes out, and the signal ends it`, async (t) => {
    const stage = await running('runs-on')
    stage.process.kill(signal)
    t.match(await stage.ended, { status: null, signal })
    t.same(fieldsOf(stage.output), [['TEXT', 'one'], ['CANCELLED']])
    t.equal(stage.stderr, '')
    const idle = await running('passes')
    idle.process.kill(signal)
    t.match(await idle.ended, { signal })
  })
}

t.test('SIGTERM: the input is read on to its end, a second one does not cut that short', async (t) => {
  const stage = await running('passes')
  stage.process.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 200))
  stage.process.kill('SIGTERM')
  stage.process.kill('SIGHUP')
  await new Promise((resolve) => setTimeout(resolve, 200))
  stage.process.stdin.end(one)
  t.match(await stage.ended, { signal: 'SIGTERM' })
  t.ok(stage.output.equals(Buffer.concat([one, one])))
})

t.test('SIGTERM while the reader takes nothing: it leaves all the same', async (t) => {
  const stage = new StartedStage('swells')
  stage.process.stdout.pause()
  for (let count = 0; count < 10; count++) stage.process.stdin.write(one)
  await new Promise((resolve) => setTimeout(resolve, 300))
  stage.process.kill('SIGTERM')
  const exited = new Promise((resolve) => stage.process.on('exit', (_, signal) => resolve(signal)))
  t.equal(await exited, 'SIGTERM')
})

t.test('SIGINT interrupts what runs, not the stage, however often it comes', async (t) => {
  const idle = await running('passes')
  for (let count = 0; count < 5; count++) idle.process.kill('SIGINT')
  idle.process.stdin.end(one)
  t.match(await idle.ended, { status: 0 })
  t.ok(idle.output.equals(Buffer.concat([one, one])))

  const busy = await running('runs-on')
  busy.process.kill('SIGINT')
  t.ok(await eventually(() => fieldsOf(busy.output).some(([type]) => type === 'INTERRUPTED')))
  busy.process.stdin.write(one)
  t.ok(await eventually(() => fieldsOf(busy.output).length === 3))
  busy.process.kill('SIGTERM')
  t.match(await busy.ended, { signal: 'SIGTERM' })
})

t.test('the owner is gone: what runs is cancelled, 69', async (t) => {
  const busy = await running('runs-on', { watch: true })
  busy.owner.destroy()
  t.match(await busy.ended, { status: 69 })
  t.match(fieldsOf(busy.output), [['TEXT', 'one'], ['CANCELLED']])
  const idle = await running('passes', { watch: true })
  idle.owner.destroy()
  t.match(await idle.ended, { status: 69 })
})

t.test('an owner that stays keeps nobody from leaving; one that was never there is none', async (t) => {
  const watched = await running('passes', { watch: true })
  watched.process.stdin.end()
  t.match(await watched.ended, { status: 0 })
  for (const descriptor of ['77', '0', '-1', 'x', '']) {
    const stage = await running('passes', { env: { AGENTPIPE_WATCH_FD: descriptor } })
    stage.process.stdin.end(one)
    t.match(await stage.ended, { status: 0 }, descriptor)
    t.ok(stage.output.equals(Buffer.concat([one, one])))
  }
})

t.test('at a terminal it says what it waits for, and Ctrl-C ends it', async (t) => {
  const child = spawn('script', ['-qefc', `exec "${process.execPath}" "${stagePath('passes')}"`, '/dev/null'], {
    env: testEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    screen += text
  })
  t.ok(await eventually(() => screen.includes('reads frames from standard input, which is a terminal: Ctrl-D ends it')))
  child.stdin.write('\x03')
  t.same(await once(child, 'close'), [0, null])
})
