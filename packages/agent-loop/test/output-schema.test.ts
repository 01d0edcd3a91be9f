import { frames, run } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { readOutputSchema } from '../src/output-schema.js'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { STOP, USAGE } from './support/model.js'
import { Ring } from './support/ring.js'

const SCHEMA = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'], additionalProperties: false }

/** What is wrong with an answer by this schema. */
async function problem(test: Test, schema: unknown, answer: string): Promise<string | undefined> {
  const directory = test.testdir({ 'schema.json': JSON.stringify(schema) })
  return (await readOutputSchema(`${directory}/schema.json`)).problem(answer)
}

t.test('what is wrong with an answer is said', async (t) => {
  t.equal(await problem(t, SCHEMA, ' {"count": 3}\n'), undefined)
  t.match(await problem(t, SCHEMA, ''), /it is not JSON/)
  t.match(await problem(t, SCHEMA, '```json\n{"count":3}\n```'), /it is not JSON: .*; it stands in a code fence/)
  t.equal(await problem(t, SCHEMA, '{}'), "the whole must have required property 'count'")
  t.equal(await problem(t, SCHEMA, '{"count":"3","__proto__":1}'), 'the whole must NOT have additional properties: "__proto__"; /count must be integer')
  t.match(await problem(t, { items: { type: 'string' } }, JSON.stringify(Array.from({ length: 100 }, (_, n) => n))), /; and 92 more$/)
  t.ok(((await problem(t, SCHEMA, JSON.stringify({ ['x'.repeat(100_000)]: 1 }))) ?? '').length < 500)
})

t.test('the dialect is that of $schema: draft-07 knows arrays of items, 2020-12 prefixItems', async (t) => {
  const draft07 = 'http://json-schema.org/draft-07/schema#'
  const latest = 'https://json-schema.org/draft/2020-12/schema'
  t.match(await problem(t, { $schema: draft07, items: [{ type: 'string' }] }, '[1]'), /must be string/)
  t.match(await problem(t, { $schema: latest, prefixItems: [{ type: 'string' }] }, '[1]'), /must be string/)
  t.match(await problem(t, { prefixItems: [{ type: 'string' }] }, '[1]'), /must be string/)
})

t.test('a file that is no schema: one line, and nothing is sent', async (t) => {
  for (const [content, status] of [
    ['{"type":', 78],
    ['[]', 78],
    ['{"type":"nonsense"}', 78],
    ['{"$ref":"https://example.test/other"}', 78],
    ['{"$schema":"http://json-schema.org/draft-04/schema#"}', 78],
    [undefined, 66],
  ] as const) {
    const directory = t.testdir({ ...(content === undefined ? {} : { 'schema.json': content }), 'model.resp': frames(['TEXT', 'x'], USAGE, STOP) })
    const ended = await run('agent-loop', ['--from', `${directory}/model.resp`, '--output-schema', `${directory}/schema.json`])
    t.match(ended, { status, stderr: /^agent-loop: .*schema\.json.*\n$/ }, content ?? 'none')
    t.equal(ended.stdout.length, 0)
  }
})

for (const tools of [['Do'], []]) {
  t.test(`an answer that is right at once, after one repair, and never, ${tools.length} tools: what was said, and what resp-render prints`, async (t) => {
    const directory = t.testdir({ 'schema.json': JSON.stringify(SCHEMA) })
    const server = await AnthropicServer.start(t)
    const ring = new Ring(t, undefined, { env: server.env, args: ['--output-schema', `${directory}/schema.json`], tools })
    for (const [name, answers, shown] of [
      ['at once', ['{"count":1}'], '{"count":1}\n'],
      ['after one repair', ['one', '{"count":1}'], '{"count":1}\n'],
      ['never', ['one', '```json\n{"count":1}\n```'], '```json\n{"count":1}\n```\n'],
    ] as const) {
      await ring.forget()
      server.mock.restart(...answers.map((text) => says({ text })))
      const asked = server.asked.length
      const sent = await ring.turn('how many?')
      t.same(server.mock.faults, [])
      t.equal(server.asked.length - asked, answers.length, name)
      if (answers.length > 1) t.match(server.asked.at(-1)?.at(-1)?.content, [{ text: /does not satisfy the JSON Schema: it is not JSON/ }], name)
      t.equal(ring.all('ERROR', sent).length, name === 'never' ? 2 : answers.length - 1, name)
      t.same(sent.at(-1), ['STOP', name === 'never' ? 'error' : 'end_turn'], name)
      const [hello] = ring.all('HELLO')
      const turn = frames(...tools.map((tool) => ['TOOL_DEF', tool, '', '{}']), hello ?? [], ...sent)
      t.equal((await run('resp-render', ['--format=text'], { input: turn })).stdout.toString(), shown, name)
      if (tools.length > 0 || name === 'at once') continue
      t.equal(`${JSON.parse((await run('resp-render', ['--format=json'], { input: turn })).stdout.toString()).text}\n`, shown, name)
    }
    t.match(JSON.stringify(server.mock.bodies[0]), /final answer must be JSON .*additionalProperties/)
    ring.send(['END'])
    t.match(await ring.ended, { status: 1, stderr: '' })
  })
}

t.test('calls, and text that goes with them, are not checked: only the last response is', async (t) => {
  const directory = t.testdir({ 'schema.json': JSON.stringify(SCHEMA) })
  const model = frames(['TEXT', 'I look.'], ['TOOL_CALL', 'Do', 'c1', '{}'], USAGE, ['TEXT', '{"cou'], ['TEXT', 'nt":2}'], USAGE, STOP)
  const ring = new Ring(t, model, {
    args: ['--output-schema', `${directory}/schema.json`],
    tools: ['Do'],
    answer: (name, id) => [['TOOL_RESULT', id, name, 'x']],
  })
  ring.send(['USER_INPUT', 'how many?'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
})
