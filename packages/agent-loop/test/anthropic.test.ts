import { fieldsOf, frames, run } from '@agentpipe/testing'
import t from 'tap'
import { call, conversation, did } from './support/anthropic-conversation.js'
import { AnthropicServer, errorAnswer, says } from './support/anthropic-server.js'
import type { Answer } from './support/mock-server.js'

// Each of them is a process: a loaded machine needs its time.
t.setTimeout(300_000)

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
  const { server, ended } = await conversation(t, [says({ text: 'x' })], ['hi'], did, ['--temperature=0.5'])
  t.match(ended, { status: 0 })
  t.match(server.mock.bodies, [{ temperature: 0.5 }])
})

t.test('calls side by side, more of them than one request, and thinking sent back: what is sent is what was said before, and more', async (t) => {
  const script = [
    says({ thinking: 'hm', signature: 's1' }, { redacted: 'r1' }, { text: 'I do.' }, call('t1', '{"n": 1}'), call('t2', '')),
    says({ thinking: '', signature: 's2' }, call('t3')),
    says({ text: 'Done.' }),
    says({ text: 'Again.' }),
  ]
  const { server, ring, ended } = await conversation(t, script, ['go', 'more'])
  t.match(ended, { status: 0, stderr: '' })
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

t.test('a request that is refused says why, and how it ended is in the status', async (t) => {
  const cases: [Answer, number, string, RegExp][] = [
    [errorAnswer(401, 'authentication_error', 'invalid x-api-key'), 77, 'key', /invalid x-api-key/],
    [errorAnswer(400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'), 69, 'too_long', /prompt is too long/],
    [errorAnswer(404, 'not_found_error', 'model: m'), 69, 'rejected', /model: m/],
  ]
  for (const [answer, status, code, message] of cases) {
    const { ring, ended } = await conversation(t, [answer], ['go'])
    t.match(ended, { status }, code)
    t.match(ring.all('ERROR'), [['ERROR', message, 'code', code]])
  }
})

t.test('34: the last event ends the turn, though the connection stays open; else connections are used again', async (t) => {
  const open: Answer = { ...says({ text: 'x' }), end: 'never' }
  t.match((await conversation(t, [open, open], ['one', 'two'])).ended, { status: 0, stderr: '' })
  const { server } = await conversation(t, [says(call('t1')), says(call('t2')), says({ text: 'x' })], ['one'])
  t.ok(server.mock.connections < 3, 'not one for each request')
})
