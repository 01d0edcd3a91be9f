import { fieldsOf, frames, run } from '@agentpipe/testing'
import t from 'tap'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { Ring } from './support/ring.js'

t.test('a plain answer', async (t) => {
  const server = await AnthropicServer.start(t, says({ text: 'Hello there.' }))
  const { status, stdout, stderr } = await run('agent-loop', ['--session=s', '--model=m'], { input: frames(['USER_INPUT', 'hi']), env: server.env })
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.same(fieldsOf(stdout).slice(1), [
    ['USER_MESSAGE', 'hi'],
    ['TEXT', 'Hello '],
    ['TEXT', 'there.'],
    ['USAGE', '10', '7', '3', '4', 'model', 'm', 'kind', 'agent'],
    ['STOP', 'end_turn'],
  ])
  t.same(server.mock.faults, [])
  t.match(server.mock.requests[0]?.headers, { 'x-api-key': 'test' })
})

t.test('tools over a ring, calls side by side', async (t) => {
  const server = await AnthropicServer.start(
    t,
    says({ text: 'I do.' }, { id: 't1', name: 'Do', input: '{"n":1}' }, { id: 't2', name: 'Do', input: '' }),
    says({ text: 'Done.' }),
  )
  const ring = new Ring(t, undefined, { env: server.env, tools: ['Do'], answer: (name, id) => [['TOOL_RESULT', id, name, `did ${id}`]] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  t.match(ring.all('TOOL_CALL'), [
    ['TOOL_CALL', 'Do', 't1', '{"n":1}'],
    ['TOOL_CALL', 'Do', 't2', '{}'],
  ])
  t.match(server.asked[1]?.[2]?.content, [{ tool_use_id: 't1', content: 'did t1' }, { tool_use_id: 't2' }])
})
