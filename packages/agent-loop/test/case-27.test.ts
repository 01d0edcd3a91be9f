import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { Project } from './support/agentpipe.js'
import { AnthropicServer, type Part, says } from './support/anthropic-server.js'

t.setTimeout(240_000)

const bash = (id: string, command: string) => ({ id, name: 'Bash', input: JSON.stringify({ command }) })

// One session, interrupted again and again: each run begins with what the one before it left, and so shows how that is gone on with.
const server = await AnthropicServer.start(t)
const project = new Project(t, server.env)

/** Goes on with the session, the model with `parts`. */
function goOn(input: string, parts: readonly Part[], ...args: readonly string[]) {
  server.mock.restart(says(...parts), says({ text: 'All is well.' }))
  return project.start('--session', 's', ...args, input)
}

/** What the results in front of `input` were, in the first request that had it. */
function resultsBefore(input: string): readonly Readonly<Record<string, unknown>>[] {
  const content = server.asked.map((messages) => messages.at(-1)?.content ?? []).find((blocks) => blocks.at(-1)?.text === input)
  return content?.slice(0, -1) ?? []
}

t.test('case 27: two calls, SIGINT after the first', async (t) => {
  const { child, ended } = goOn('one', [bash('t1', 'echo one'), bash('t2', 'sleep 300')])
  t.ok(await project.logged('"type":"tool_result"'))
  await sleep(200) // from the log it goes on to agent-loop
  child.kill('SIGINT')
  await ended
})

const victims = ['/tool-runner', '/agent-loop', '/event-store', '']
for (const [n, victim] of victims.entries()) {
  t.test(`case 27: kill -9 of ${victim.slice(1) || 'everything'}`, async (t) => {
    const { ended } = goOn(`kill ${n}`, [bash(`a${n}`, `touch started${n}; sleep 300`), bash(`b${n}`, 'sleep 300')])
    await eventually(() => project.has(`started${n}`), 15_000)
    t.ok(project.kill(victim) > 0)
    while (victim === '' && project.kill() > 0) await sleep(5)
    t.not((await ended).status, 0)
    t.ok(await project.quiet())
  })
}

t.test('case 27: permission denied', async (t) => {
  const { status, stdout, stderr } = await goOn('denied', [bash('d1', 'touch denied')], '--mode', 'read-only').ended
  t.equal(status, 0, stderr)
  t.match(stdout, 'All is well.')
  t.notOk(project.has('denied'))
  t.match(server.asked.at(-1)?.at(-1)?.content, [{ tool_use_id: 'd1', is_error: true }])
})

t.test('case 27: each request was valid, and had one result for each call, in the very next message', (t) => {
  t.same(server.mock.faults, [])
  t.match(resultsBefore('kill 0'), [
    { tool_use_id: 't1', content: /one/ },
    { tool_use_id: 't2', is_error: true },
  ])
  for (const [n, victim] of victims.entries()) {
    const results = resultsBefore(victims[n + 1] === undefined ? 'denied' : `kill ${n + 1}`)
    t.equal(results.length, 2, victim)
    t.match(results, [
      { type: 'tool_result', tool_use_id: `a${n}`, is_error: true },
      { type: 'tool_result', tool_use_id: `b${n}`, is_error: true },
    ])
  }
  t.end()
})
