import { fieldsOf, frames, run } from '@agentpipe/testing'
import t from 'tap'
import { Conversations, call } from './support/anthropic-conversation.js'
import { AnthropicServer, errorAnswer, says } from './support/anthropic-server.js'
import type { Answer } from './support/mock-server.js'

t.setTimeout(300_000)

const talk = await Conversations.start(t)

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
  t.match(server.mock.requests[0]?.headers, { 'x-api-key': 'test', authorization: undefined })
})

t.test('a temperature asks for the version of the API that has one', async (t) => {
  const talk = await Conversations.start(t, ['--temperature=0.5'])
  await talk.play([says({ text: 'x' })], ['hi'])
  t.match(talk.server.mock, { faults: [], bodies: [{ temperature: 0.5 }] })
})

t.test('calls side by side, more of them than one request, and thinking sent back: what is sent is what was said before, and more', async (t) => {
  const script = [
    says({ thinking: 'hm', signature: 's1' }, { redacted: 'r1' }, { text: 'I do.' }, call('t1', '{"n": 1}'), call('t2', '')),
    says({ thinking: '', signature: 's2' }, call('t3')),
    says({ text: 'Done.' }),
    says({ text: 'Again.' }),
  ]
  const { server, ring } = talk
  await talk.play(script, ['go', 'more'])
  t.same(server.mock.faults, [])
  t.same(
    ring.all('TOOL_CALL').map(([, , id, input]) => [id, input]),
    [
      ['t1', '{"n": 1}'],
      ['t2', '{}'],
      ['t3', '{}'],
    ],
  )
  t.match(server.asked[1]?.[2]?.content, [
    { tool_use_id: 't1', content: 'did t1' },
    { tool_use_id: 't2', content: 'did t2' },
  ])
  t.match(server.asked[3]?.[1]?.content, [{ thinking: 'hm', signature: 's1' }, { data: 'r1' }, { text: 'I do.' }, { id: 't1' }, { id: 't2' }])
  const plain = server.mock.requests.map(({ body }) => body.replaceAll(',"cache_control":{"type":"ephemeral"}', ''))
  for (const [at, body] of plain.slice(1).entries()) t.ok(body.startsWith((plain[at] as string).slice(0, -2)), `request ${at + 1}`)
})

t.test('a request that is refused says why', async (t) => {
  const cases: [Answer, string, RegExp][] = [
    [errorAnswer(401, 'authentication_error', 'invalid x-api-key'), 'key', /invalid x-api-key/],
    [errorAnswer(400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'), 'too_long', /prompt is too long/],
    [errorAnswer(404, 'not_found_error', 'model: m'), 'rejected', /model: m/],
  ]
  for (const [answer, code, message] of cases) t.match((await talk.play([answer], ['go'])).all('ERROR'), [['ERROR', message, 'code', code]])
})

t.test('34: connections are used again; the last event ends the turn, though the connection stays open', async (t) => {
  const before = talk.server.mock.connections
  await talk.play([says(call('t4')), says(call('t5')), says({ text: 'x' })], ['one'])
  t.ok(talk.server.mock.connections - before < 3, 'not one for each request')
  const open: Answer = { ...says({ text: 'x' }), end: 'never' }
  await talk.play([open, open], ['one', 'two'])
  t.match(await talk.end(), { status: 0, stderr: '' })
})
