import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { eventually, frames, run, shell, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers, runsNow } from './support/processes.js'

const ANSWER = capture({ text: 'answer' })
const LONG = capture(bash('setsid sh -c "echo started; sleep 986"'), { text: 'never said' })

t.test('a stream without STOP never ends with 0, and the stage that cut it is named', async (t) => {
  for (const [options, name] of [
    [['--before', 'event-store=exit 0'], 'before-event-store'],
    [['--after', 'event-store=true'], 'after-event-store'],
    [['--stage', 'tool-runner=true'], 'tool-runner'],
  ] as const) {
    const { status, stderr } = await agent(new Workspace(t, ANSWER), [...options, 'go'])
    t.equal(status, 69, name)
    t.equal(stderr, `agentpipe: the ring was cut: ${name} was the first stage to end\n`)
  }
})

t.test('a renderer that reads nothing is a reader that has left', async (t) => {
  t.match(await agent(new Workspace(t, ANSWER), ['--stage', 'resp-render=true', 'go']), { status: 141, stderr: '' })
})

t.test('a reader of lines of JSON that has left ends the turn', async (t) => {
  const FORMAT = 'agentpipe --provider replay --from model.resp --output-format stream-json'
  const commands = `mkfifo commands; exec 5<>commands; echo '{"type":"user_input","text":"go"}' >&5`
  for (const [before, line] of [
    ['true', `${FORMAT} go`],
    [commands, `${FORMAT} --input-format stream-json <commands 5>&-`],
  ]) {
    const workspace = new Workspace(t, LONG)
    const { stdout, stderr } = await shell(`${before}; { ${line}; echo "status $?" >&2; } | head -1`, [], inside(workspace))
    t.match(stdout.toString(), /^\{.*"type":"hello".*\}\n$/)
    t.equal(stderr, 'status 141\n')
    // Told to leave, agent-loop waits half a second for the result of the call: it may come behind STOP.
    t.match(
      logged(workspace).find(({ type }) => type === 'stop'),
      { reason: 'interrupted' },
      'and all of it is in the log',
    )
    t.same(await leftovers(workspace), [])
  }
})

t.test('a renderer that SIGINT ends, as it does before it can take it, is one that was interrupted', async (t) => {
  t.match(await agent(new Workspace(t, ANSWER), ['--stage', 'resp-render=exit 130', 'go']), { status: 130, stderr: '' })
})

t.test('what is wrong with an option is said before anything runs', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  for (const id of ['../x', 'x'.repeat(129)]) {
    t.match(await agent(workspace, ['--session', id, 'go']), { status: 64, stderr: /^agentpipe: --session: expected at most 128 of .* found .*\n$/ }, id)
  }
  t.match(await agent(workspace, ['--record', './model.resp', 'go']), {
    status: 64,
    stderr: 'agentpipe: --record ./model.resp would overwrite the capture that --from plays\n',
  })
  t.ok(readFileSync(workspace.path('model.resp')).equals(ANSWER), 'it is as it was')
  t.notOk(existsSync(workspace.path('state')))
})

t.test('names that look like options', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const before = frames(['HELLO', '1', '-x'], ['USER_MESSAGE', 'one'], ['STOP', 'end_turn'])
  t.match(await run('event-store', ['--session=-x'], inside(workspace, { input: before })), { status: 0 })
  t.match(await agent(workspace, ['--session=-x', '--record=-r', 'two']), { status: 0, stderr: '' })
  t.equal(logged(workspace).filter(({ type }) => type === 'stop').length, 2)
  t.ok(readFileSync(workspace.path('-r')).length > 0)
})

t.test('a session that can not be read ends the run', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const ended = await agent(workspace, ['--session', 'x', 'go'], { env: { XDG_STATE_HOME: workspace.path('model.resp') } })
  // Two notice it, at the same time.
  t.ok(ended.status === 66 || ended.status === 74, `status ${ended.status}`)
  t.match(ended.stderr, /cannot (read|write) .*: not a directory\n/)
  t.notMatch(ended.stdout.toString(), 'answer')
})

t.test('a record on a full disk: 74, and the answer all the same', async (t) => {
  const { status, stdout, stderr } = await agent(new Workspace(t, ANSWER), ['--record', '/dev/full', 'go'])
  t.match(stdout.toString(), 'answer')
  t.equal(status, 74)
  t.match(stderr, /^tee: .*\n$/)
})

t.test('standard error is closed', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const { status, stdout } = await shell('agentpipe --provider replay --from model.resp go 2>&-', [], inside(workspace))
  t.equal(status, 0)
  t.match(stdout.toString(), 'answer')
})

t.test('too few descriptors: one line, 69', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const { status, stderr } = await shell('ulimit -n 20; exec agentpipe --provider replay --from model.resp go', [], inside(workspace))
  t.equal(status, 69)
  t.match(stderr, /^agentpipe: cannot run \/bin\/sh: .*\n$/)
})

t.test('files may not grow: 74, nothing is left', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const { status } = await shell('ulimit -f 0; agentpipe --provider replay --from model.resp go | cat; exit ${PIPESTATUS[0]}', [], inside(workspace))
  t.equal(status, 74)
  t.same(await leftovers(workspace), [])
})

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} to the whole group: STOP is in the log, nothing is left`, async (t) => {
    const { workspace, group, ended } = await startLong(t)
    process.kill(-group, signal)
    t.match(await ended, [null, signal])
    t.match(logged(workspace).at(-1), { type: 'stop', reason: 'interrupted' })
    t.match(
      logged(workspace).map(({ type }) => type),
      ['hello', 'user_message', 'tool_call', 'usage', 'tool_output', 'tool_result', 'stop'],
    )
    t.same(await leftovers(workspace), [], 'what left its group is gone too')
    t.same(temporary(workspace), [])
  })
}

t.test('SIGTERM to the printed script: STOP is in the log, nothing is left', async (t) => {
  const workspace = new Workspace(t, LONG)
  const { stdout } = await agent(workspace, ['--print-script', 'go'])
  writeFileSync(workspace.path('script'), stdout)
  const { script, ended } = await startLong(t, workspace, ['sh', 'script'])
  script.kill('SIGTERM')
  t.match(await ended, [143, null])
  t.match(logged(workspace).at(-1), { type: 'stop', reason: 'interrupted' })
  t.same(await leftovers(workspace), [])
  t.same(temporary(workspace), [])
})

t.test('| head -1: it ends when its reader has left, though a command runs', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'one\n\ntwo\n\n', ...bash('while echo more; do sleep 0.1; done') }, { text: 'never said' }))
  const { status, stdout } = await shell('agentpipe --provider replay --from model.resp go | head -1; exit ${PIPESTATUS[0]}', [], inside(workspace))
  t.equal(status, 141)
  t.equal(stdout.toString().split('\n').length, 2)
  t.same(await leftovers(workspace), [])
})

/** `make soak` asks for more moments. */
const STEP_MS = Number(process.env.INTERRUPT_STEP_MS ?? 200)

t.test('SIGINT at any moment of the start is not lost, and nothing is left', async (t) => {
  for (let ms = 20; ms <= 900; ms += STEP_MS) {
    const workspace = new Workspace(t, LONG)
    const started = start(workspace, ['agentpipe', '--provider=replay', '--from=model.resp', 'go'])
    await new Promise((resolve) => setTimeout(resolve, ms))
    process.kill(-(started.pid as number), 'SIGINT')
    const [status, signal] = await once(started, 'exit')
    t.ok(signal === 'SIGINT' || status === 130, `after ${ms} ms: ${status} ${signal}`)
    t.same(await leftovers(workspace), [], `after ${ms} ms`)
    t.same(temporary(workspace), [])
  }
})

t.test('a runner that misses the turn of an interrupted agent-loop, and says so first, is not what failed', async (t) => {
  const early = 'resp write HELLO 1 agent-loop; exec >&-; sleep 0.5; exit 130'
  t.match(await agent(new Workspace(t, ANSWER), ['--stage', `agent-loop=${early}`, 'go']), { status: 130 })
})

async function startLong(
  t: { teardown(work: () => void): void },
  workspace = new Workspace(t, LONG),
  words: readonly string[] = ['agentpipe', '--provider=replay', '--from=model.resp', 'go'],
) {
  const script = start(workspace, words)
  const ended = once(script, 'exit')
  await eventually(() => runsNow(workspace, 'sleep 986'), 15_000)
  return { workspace, script, group: script.pid as number, ended }
}

/** In a process group of its own. */
function start(workspace: Workspace, [command = '', ...args]: readonly string[]) {
  return spawn(command, args, {
    cwd: workspace.directory,
    env: testEnvironment(workspace.environment),
    stdio: 'ignore',
    detached: true,
  })
}

/** What is left in the directory of temporary files. */
function temporary(workspace: Workspace): string[] {
  return readdirSync(workspace.directory).filter((name) => name.startsWith('agentpipe'))
}

t.test('a program around agent-loop that holds its output open does not keep the ring going', async (t) => {
  const workspace = new Workspace(t, ANSWER)
  const around = 'agent-loop --provider replay --from model.resp --once --ring; exit $?'
  t.match(await agent(workspace, ['--stage', `agent-loop=${around}`, 'go'], { timeout: 120_000 }), { status: 0, stderr: '', stdout: /answer/ })
  t.same(await leftovers(workspace), [])
})

t.test('told to leave as soon as it has begun, it leaves no directory', async (t) => {
  await Promise.all(
    [60, 90, 120, 160].map(async (moment) => {
      const workspace = new Workspace(t, LONG)
      const env = testEnvironment({ ...workspace.environment, TMPDIR: workspace.path('state') })
      mkdirSync(workspace.path('state'))
      const child = spawn('agentpipe', ['--provider=replay', '--from=model.resp', 'go'], {
        cwd: workspace.directory,
        env,
        stdio: 'ignore',
      })
      setTimeout(() => child.kill(moment % 60 === 0 ? 'SIGHUP' : 'SIGTERM'), moment)
      await once(child, 'exit')
      t.same(await leftovers(workspace), [])
      const left = () => readdirSync(workspace.path('state')).filter((name) => name.startsWith('agentpipe.'))
      await eventually(() => left().length === 0)
      t.same(left(), [], `${moment} ms`)
    }),
  )
})
