import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ended, eventually, fieldsOf, fixture, frames, type RunOptions, root, run, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { inside, logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers, runsNow } from './support/processes.js'

const script = join(root, 'scripts/agent')
/** `make soak` asks for more moments. */
const everything = process.env.KILLS === 'all'

const model = capture(bash('echo from the tool'), { text: 'Said.' })

/** scripts/agent in a workspace, its model.resp playing the model. */
function agent(workspace: Workspace, args: readonly string[], { shell = 'sh', ...options }: RunOptions & { shell?: string } = {}): Promise<Ended> {
  const env = { AGENT_LOOP: 'agent-loop --provider replay --from model.resp', ...options.env }
  return run(shell, [script, ...args], inside(workspace, { ...options, env }))
}

t.test('is as short as it says', (t) => {
  t.ok(readFileSync(script, 'utf8').trimEnd().split('\n').length <= 15)
  t.end()
})

for (const shell of ['dash', 'bash']) {
  const there = (await run(shell, ['-c', ':'])).status === 0
  t.test(`the whole agent in ${shell}`, { skip: !there && `no ${shell} here` }, async (t) => {
    const workspace = new Workspace(t, model)
    const ended = await agent(workspace, ['say it'], { shell })
    t.match(ended, { status: 0, stderr: '' })
    t.match(ended.stdout.toString(), /from the tool.*Said\./s)
    t.match(logged(workspace).at(-1), { type: 'stop', reason: 'end_turn' })
    t.same(await leftovers(workspace), [])
    t.same(readdirSync(workspace.directory).sort(), ['model.resp', 'state'], 'the FIFO is gone')
  })
}

t.test('the prompt is the operands, or what is piped, of any size', async (t) => {
  const long = `${'é\n'.repeat(100_000)}.`
  for (const [args, input, prompt] of [
    [['two', 'words -n %s'], 'not this', 'two words -n %s'],
    [[], long, long],
  ] as const) {
    const workspace = new Workspace(t, capture({ text: 'Read.' }))
    t.equal((await agent(workspace, args, { input })).status, 0)
    t.equal(logged(workspace).find(({ type }) => type === 'user_message')?.text, prompt)
  }
})

t.test('each stage is what its variable says', async (t) => {
  const workspace = new Workspace(t, model)
  const names = ['TOOL_RUNNER', 'EVENT_STORE', 'RESP_RENDER']
  const env = Object.fromEntries(names.map((name) => [name, `tee 'what ${name} saw' | ${name.toLowerCase().replace('_', '-')}`]))
  const ended = await agent(workspace, ['say it'], { env })
  t.match(ended, { status: 0, stderr: '' })
  t.match(ended.stdout.toString(), 'Said.')
  for (const name of names) t.same(fieldsOf(readFileSync(workspace.path(`what ${name} saw`))).at(-1), ['STOP', 'end_turn'])
})

t.test('its status is that of agent-loop, whoever it is', async (t) => {
  const status = async (command: string) => {
    const workspace = new Workspace(t, model)
    const ended = await agent(workspace, ['go'], { env: { AGENT_LOOP: command } })
    t.same(await leftovers(workspace), [])
    return ended.status
  }
  t.equal(await status('agent-loop --provider none'), 64)
  t.equal(await status('agent-loop --provider replay --from /dev/null'), 69)
  t.equal(await status('no-such-command'), 127)
})

t.test('a tool-runner that ends at once does not hang it', async (t) => {
  // Several times: tee then opens and closes the FIFO just when resp merge opens it.
  for (let time = 0; time < (everything ? 20 : 1); time++) {
    const workspace = new Workspace(t, model)
    const ended = await agent(workspace, ['go'], { env: { TOOL_RUNNER: 'true' }, timeout: 120_000 })
    t.equal(ended.timedOut, false)
    t.same(await leftovers(workspace), [])
  }
})

t.test('Ctrl-C at any moment ends it, and nothing is left', { jobs: 2 }, async (t) => {
  // A stage that has only just started is killed by it; later it is the head that ends the turn.
  for (let moment = 100; moment <= 1500; moment += everything ? 50 : 700) {
    t.test(`after ${moment} ms`, async (t) => {
      const workspace = new Workspace(t, capture(bash('sleep 2'), { text: 'Said.' }))
      const env = testEnvironment({ ...workspace.environment, AGENT_LOOP: 'agent-loop --provider replay --from model.resp' })
      const ring = spawn(script, ['go'], { cwd: workspace.directory, env, detached: true, stdio: 'ignore' })
      const ended = once(ring, 'exit')
      await sleep(moment)
      process.kill(-(ring.pid as number), 'SIGINT')
      const [status] = await Promise.race([ended, sleep(20_000, ['it hangs'], { ref: false })])
      t.equal(status, 130)
      t.same(await leftovers(workspace), [])
      t.same(
        readdirSync(workspace.directory).filter((name) => name.startsWith('agent.')),
        [],
      )
      if (status !== 130) process.kill(-(ring.pid as number), 'SIGKILL')
    })
  }
})

t.test('SIGHUP of it, as when its terminal closes, leaves no directory', async (t) => {
  const workspace = new Workspace(t, capture(bash('sleep 984'), { text: 'Said.' }))
  const env = testEnvironment({ ...workspace.environment, TMPDIR: workspace.directory, AGENT_LOOP: 'agent-loop --provider replay --from model.resp' })
  const ring = spawn(script, ['go'], { cwd: workspace.directory, env, detached: true, stdio: 'ignore' })
  const ended = once(ring, 'exit')
  await eventually(() => runsNow(workspace, 'sleep 984'), 15_000)
  process.kill(-(ring.pid as number), 'SIGHUP')
  await ended
  t.same(await leftovers(workspace), [])
  t.same(
    readdirSync(workspace.directory).filter((name) => name.startsWith('agent')),
    [],
  )
})

t.test('--help says what they are', async (t) => {
  for (const name of ['agent', 'replay']) {
    for (const option of ['--help', '-h']) {
      const ended = await run(join(root, 'scripts', name), [option])
      t.match(ended, { status: 0, stderr: '' })
      t.match(ended.stdout.toString(), /scripts\/(agent|replay) /)
    }
  }
})

t.test('without our executables it says what to do', async (t) => {
  const workspace = new Workspace(t, model)
  const copy = workspace.path('agent')
  writeFileSync(copy, readFileSync(script))
  chmodSync(copy, 0o755)
  const ended = await run(copy, ['go'], { env: { PATH: '/usr/bin:/bin' } })
  t.match(ended, { status: 69, stderr: 'agent: there is no resp: run make first\n' })
})

t.test('replay shows a capture as the renderer does', async (t) => {
  const replay = join(root, 'scripts/replay')
  const file = fixture('demo/in.resp')
  const direct = await run('resp-render', ['--width', '60'], { input: readFileSync(file) })
  t.same((await run(replay, [file, '--width', '60'])).stdout, direct.stdout)
  t.match(await run(replay, []), { status: 64, stderr: 'replay: expected a file of frames, found ""; see --help\n' })
  t.match(await run(replay, ['/no/such']), { status: 64, stderr: /no\/such/ })
  t.match(await run(replay, ['x\x1b]0;T\x07']), { status: 64, stderr: /found "x\?\]0;T\?"/ })
})

t.test('count says on stderr what has passed, and passes all', async (t) => {
  const bytes = frames(['TOOL_CALL', 'Bash', 'c1', '{}'], ['TEXT', 'x'], ['TOOL_CALL', 'Bash', 'c2', '{}'])
  const ended = await run(join(root, 'scripts/examples/count.bash'), [], { input: bytes })
  t.same(ended.stdout, bytes)
  t.match(ended, { status: 0, stderr: 'tools called: 2\n' })
  t.match(await run(join(root, 'scripts/examples/count.bash'), [], { input: 'hello' }), { status: 65 })
})

t.test('typewriter passes all', async (t) => {
  const bytes = frames(['THINKING', ''], ['TEXT', 'x'], ['STOP', 'end_turn'])
  t.same((await run(join(root, 'scripts/examples/typewriter.bash'), [], { input: bytes })).stdout, bytes)
})
