import { setTimeout as sleep } from 'node:timers/promises'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { CALLS_ONCE } from './support/model.js'
import { Ring } from './support/ring.js'

const spawn = (id: string) => ({ id, name: 'SubAgent', input: '{"prompt":"look"}' })
const started = (name: string, id: string) => [['TOOL_RESULT', id, name, `started ${id}`, 'session_id', `s-${id}`]]
const result = (id: string) => ['SUB_AGENT_RESULT', `s-${id}`, 'ok', `${id} has found it`]

for (const leaving of ['--once', 'END'] as const) {
  t.test(`${leaving}: STOP waits for the sub-agents that run, and the model is asked again with their results`, async (t) => {
    const server = await AnthropicServer.start(t, says(spawn('t1'), spawn('t2')), says({ text: 'They look.' }), says({ text: 'Found.' }))
    const ring = new Ring(t, undefined, { env: server.env, args: leaving === 'END' ? [] : [leaving], tools: ['SubAgent'], answer: started })
    ring.send(['USER_INPUT', 'go'], ...(leaving === 'END' ? [['END']] : []))
    await ring.until('USAGE', 2)
    ring.send([...result('t2'), 'tool_use_id', 't2'])
    await sleep(200)
    t.same(ring.all('STOP'), [], 'one still runs')
    ring.send(result('t1'))
    t.match(await ring.ended, { status: 0, stderr: '' })
    t.same(server.mock.faults, [])
    t.match(server.asked[2]?.at(-1)?.content, [{ text: /s-t2 has ended \(ok\):\nt2 has found it/ }, { text: /s-t1/ }])
    t.same(ring.types().slice(-3), ['TEXT', 'USAGE', 'STOP'].slice(-3))
  })
}

t.test('a result that comes between model calls is in the next request, and nothing is waited for', async (t) => {
  const server = await AnthropicServer.start(t, says(spawn('t1')), says({ id: 't2', name: 'Do', input: '{}' }), says({ text: 'Found.' }))
  const answer = (name: string, id: string) => (name === 'Do' ? [result('t1'), ['TOOL_RESULT', id, name, 'ok']] : started(name, id))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: ['SubAgent', 'Do'], answer })
  ring.send(['USER_INPUT', 'go'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(server.asked[2]?.at(-1)?.content, [{ tool_use_id: 't2' }, { text: /t1 has found it/ }])
})

t.test('a result that comes while the model says its last words is told too', async (t) => {
  const server = await AnthropicServer.start(t, says(spawn('t1')), { ...says({ text: 'They look.' }), gap: 100, pieces: 100 }, says({ text: 'Found.' }))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: ['SubAgent'], answer: started })
  ring.send(['USER_INPUT', 'go'])
  await ring.until('TEXT')
  ring.send(result('t1'))
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.equal(server.asked.length, 3)
  t.match(server.asked[2]?.at(-1)?.content, [{ text: /t1 has found it/ }])
})

t.test('a result that is there before the answer to its call is waited for by nobody', async (t) => {
  const server = await AnthropicServer.start(t, says(spawn('t1')), says({ text: 'Found.' }))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: ['SubAgent'], answer: (name, id) => [result(id), ...started(name, id)] })
  ring.send(['USER_INPUT', 'go'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
})

t.test('where inputs may still come, STOP comes at once, and the next turn has the result', async (t) => {
  const server = await AnthropicServer.start(t, says(spawn('t1')), says({ text: 'They look.' }), says({ text: 'Found.' }))
  const ring = new Ring(t, undefined, { env: server.env, tools: ['SubAgent'], answer: started })
  ring.send(['USER_INPUT', 'go'])
  t.same(await ring.until('STOP'), ['STOP', 'end_turn'])
  ring.send(result('t1'))
  await sleep(200)
  t.equal(server.asked.length, 2, 'no turn begins by itself')
  ring.send(['USER_INPUT', 'and?'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(server.asked[2]?.at(-1)?.content, [{ text: /t1 has found it/ }, { text: 'and?' }])
})

for (const how of ['SIGINT', 'INTERRUPT'] as const) {
  t.test(`${how} while sub-agents are waited for: the runners are told, nothing is waited for`, async (t) => {
    const server = await AnthropicServer.start(t, says(spawn('t1')), says({ text: 'They look.' }))
    const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: ['SubAgent'], answer: started })
    ring.send(['USER_INPUT', 'go'])
    await ring.until('USAGE', 2)
    await sleep(100)
    how === 'SIGINT' ? ring.kill('SIGINT') : ring.send(['INTERRUPT', 'n1'])
    t.match(await ring.ended, { status: 130, stderr: '' })
    t.ok(ring.all('INTERRUPT').length > 0)
    t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
  })
}

t.test('a ring that is cut while sub-agents are waited for: STOP error, 69', async (t) => {
  const server = await AnthropicServer.start(t, says(spawn('t1')), says({ text: 'They look.' }))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: ['SubAgent'], answer: started })
  ring.send(['USER_INPUT', 'go'])
  await ring.until('USAGE', 2)
  await sleep(100)
  ring.end()
  t.match(await ring.ended, { status: 69 })
  t.match(ring.all('ERROR'), [['ERROR', /sub-agents do not answer/]])
})

t.test('a sub-agent that could not be started is not waited for', async (t) => {
  const failed = (_: string, id: string) => [['TOOL_RESULT', id, 'Do', 'too many', 'status', 'error', 'session_id', 's1']]
  const ring = new Ring(t, CALLS_ONCE, { args: ['--once'], tools: ['Do'], answer: failed })
  ring.write(frames(['USER_INPUT', 'go']))
  t.match(await ring.ended, { status: 0, stderr: '' })
})
