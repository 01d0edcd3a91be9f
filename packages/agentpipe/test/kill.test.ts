import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers, runningAs, runsNow } from './support/processes.js'

/** What a command line holds by which a stage is known. */
const stages = {
  'agent-loop': '/agent-loop',
  'tool-runner': '/tool-runner',
  'event-store': '/event-store',
  tee: 'tee -i',
  'resp-render': '/resp-render',
  input: 'cat ',
}

for (const [name, text] of Object.entries(stages)) {
  t.test(`kill -9 of ${name} in mid-turn: it is named, and all is gone`, async (t) => {
    const { workspace, agentpipe, ended } = await startInMidTurn(t)
    const [stage] = runningAs(workspace, text)
    if (stage === undefined) return t.fail(`${name} does not run`)
    process.kill(stage.pid, 'SIGKILL')
    const { status, stderr } = await ended
    t.equal(status, 137)
    t.match(stderr, `agentpipe: ${name} was killed by SIGKILL`)
    t.same(await leftovers(workspace), [], 'the running command is gone too')
    t.not(agentpipe.exitCode, null)
    if (name !== 'event-store')
      t.match(
        logged(workspace).map(({ type }) => type),
        ['hello', 'user_message'],
        'what happened before is in the log',
      )
  })
}

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} of agentpipe in mid-turn: all is gone`, async (t) => {
    const { workspace, agentpipe, ended } = await startInMidTurn(t)
    agentpipe.kill(signal)
    t.equal((await ended).signal, signal)
    t.same(await leftovers(workspace), [])
  })
}

t.test('kill -9 of the shell that runs the stages: all is gone', async (t) => {
  const { workspace, agentpipe, ended } = await startInMidTurn(t)
  const shell = runningAs(workspace, '/bin/sh -s').find(({ parent }) => parent === agentpipe.pid)
  if (shell === undefined) return t.fail('no shell')
  process.kill(shell.pid, 'SIGKILL')
  const { status, stderr } = await ended
  t.equal(status, 69)
  t.match(stderr, 'agentpipe: the shell that runs the stages was killed by SIGKILL')
  t.same(await leftovers(workspace), [])
})

t.test('SIGINT of agentpipe alone interrupts the turn, and ends it by that signal', async (t) => {
  const { workspace, agentpipe, ended } = await startInMidTurn(t)
  agentpipe.kill('SIGINT')
  t.equal((await ended).signal, 'SIGINT')
  t.match(logged(workspace).at(-1), { type: 'stop', reason: 'interrupted' })
  t.same(await leftovers(workspace), [])
})

t.test('a stage of somebody else that ignores the end of its input is ended as well', async (t) => {
  const { workspace, agentpipe, ended } = await startInMidTurn(t, ['--after', `resp-render=trap '' TERM; cat; sleep 987`])
  agentpipe.kill('SIGKILL')
  t.equal((await ended).signal, 'SIGKILL')
  t.same(await leftovers(workspace), [])
})

/** agentpipe, with a command running that would take long. */
async function startInMidTurn(t: { teardown(work: () => void): void }, args: readonly string[] = []) {
  const workspace = new Workspace(t, capture(bash('echo started; sleep 986'), { text: 'never said' }))
  const agentpipe = spawn('agentpipe', ['--provider=replay', '--from=model.resp', ...args, 'go'], {
    cwd: workspace.directory,
    env: testEnvironment(workspace.environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  agentpipe.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  agentpipe.stdout.resume()
  const ended = once(agentpipe, 'exit').then(async ([status, signal]) => ({ status, signal, stderr }))
  await eventually(() => runsNow(workspace, 'sleep 986'), 15_000)
  return { workspace, agentpipe, ended }
}
