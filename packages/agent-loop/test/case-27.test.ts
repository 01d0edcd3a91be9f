import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { Project } from './support/agentpipe.js'
import { AnthropicServer, says } from './support/anthropic-server.js'

const bash = (id: string, command: string) => ({ id, name: 'Bash', input: JSON.stringify({ command }) })

/** Goes on with the session, and gives what the results of the calls were in the request for it. */
async function resultsOnGoingOn(t: Test, project: Project, server: AnthropicServer) {
  server.mock.restart(says({ text: 'All is well.' }))
  const { status, stdout, stderr } = await project.start('--session', 's', 'hi').ended
  t.equal(status, 0, stderr)
  t.match(stdout, 'All is well.')
  t.same(server.mock.faults, [])
  const last = server.asked.at(-1)?.at(-1)?.content ?? []
  t.match(last.at(-1), { type: 'text', text: 'hi' })
  return last.slice(0, -1)
}

/** agentpipe in the middle of its first turn: `asked` requests were made, and something runs. */
async function inMidTurn(t: Test, args: readonly string[], ...calls: ReturnType<typeof bash>[]) {
  const server = await AnthropicServer.start(t, says(...calls))
  const project = new Project(t, server.env)
  const { child, ended } = project.start('--session', 's', ...args, 'go')
  await eventually(() => server.mock.requests.length > 0, 15_000)
  return { server, project, child, ended }
}

t.test('case 27: SIGINT while a command runs', async (t) => {
  const { server, project, child, ended } = await inMidTurn(t, [], bash('t1', 'sleep 300'))
  await sleep(500)
  child.kill('SIGINT')
  await ended
  t.match(await resultsOnGoingOn(t, project, server), [{ type: 'tool_result', tool_use_id: 't1', is_error: true }])
})

t.test('case 27: two calls, SIGINT after the first', async (t) => {
  const { server, project, child, ended } = await inMidTurn(t, [], bash('t1', 'echo one; touch done'), bash('t2', 'sleep 300'))
  await eventually(() => project.has('done'), 15_000)
  await sleep(200)
  child.kill('SIGINT')
  await ended
  t.match(await resultsOnGoingOn(t, project, server), [
    { tool_use_id: 't1', content: /one/ },
    { tool_use_id: 't2', is_error: true },
  ])
})

for (const victim of ['/tool-runner', '/agent-loop', '/event-store', '']) {
  t.test(`case 27: kill -9 of ${victim.slice(1) || 'everything'}`, async (t) => {
    const { server, project, ended } = await inMidTurn(t, [], bash('t1', 'touch started; sleep 300'), bash('t2', 'sleep 300'))
    await eventually(() => project.has('started'), 15_000)
    t.ok(project.kill(victim) > 0)
    while (victim === '' && project.kill() > 0) await sleep(5)
    t.not((await ended).status, 0)
    await project.quiet()
    const results = await resultsOnGoingOn(t, project, server)
    t.equal(results.length, 2)
    t.match(results, [
      { tool_use_id: 't1', is_error: true },
      { tool_use_id: 't2', is_error: true },
    ])
  })
}

t.test('case 27: permission denied', async (t) => {
  const server = await AnthropicServer.start(t, says(bash('t1', 'touch done')), says({ text: 'Then not.' }))
  const project = new Project(t, server.env)
  t.match(await project.start('--session', 's', '--mode', 'read-only', 'go').ended, { status: 0 })
  t.notOk(project.has('done'))
  t.match(server.asked[1]?.at(-1)?.content, [{ tool_use_id: 't1', is_error: true }])
  t.same(await resultsOnGoingOn(t, project, server), [])
})
