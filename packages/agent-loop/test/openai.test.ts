import { fieldsOf, frames, run } from '@agentpipe/testing'
import t from 'tap'
import type { Answer } from './support/mock-server.js'
import { chatSays, openAiServer, type Part, refused, responsesSays } from './support/openai-server.js'
import { type Answering, Ring } from './support/ring.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=='
const APIS = [
  ['chat', chatSays],
  ['responses', responsesSays],
] as const

/** The body of a request up to the end of its last message. */
const opened = (body: string) => body.slice(0, body.lastIndexOf(']'))

for (const [api, says] of APIS) {
  t.test(`${api}: a plain answer`, async (t) => {
    const { mock, env } = await openAiServer(t, api)
    mock.answer(says({ thinking: 'hm' }, { text: 'Hello.' }))
    const args = ['--session=s', '--model=m', '--append-system=Be nice.']
    const { status, stdout, stderr } = await run('agent-loop', args, { input: frames(['USER_INPUT', 'hi']), env })
    t.match({ status, stderr, faults: mock.faults }, { status: 0, stderr: '', faults: [] })
    const said = fieldsOf(stdout).slice(1)
    t.same(
      said.map(([type, text]) => `${type} ${text}`),
      ['USER_MESSAGE hi', 'THINKING hm', 'THINKING ', 'TEXT Hello.', 'USAGE 6', 'STOP end_turn'],
    )
    t.same(said.at(-2), ['USAGE', '6', '5', '4', '0', 'model', 'm', 'kind', 'agent'])
  })

  // One process has the conversations of all these, each from its beginning.
  t.test(`${api}: many conversations`, async (t) => {
    const { mock, env } = await openAiServer(t, api)
    const ring = new Ring(t, undefined, { env, args: ['--model=m'], tools: ['Do'] })
    const begin = async (answer: Answering, ...script: readonly Answer[]) => {
      await ring.forget()
      ring.answer = answer
      mock.restart(...script)
      mock.requests.length = 0
    }

    await t.test(`turns with parallel calls, thinking and images; each request begins with the bytes of the last one`, async (t) => {
      const turns = 12
      const script: Answer[] = []
      for (let turn = 0; turn < turns; turn++) {
        const thinking = (what: string): Part => ({ thinking: `${what} \u{1F600}`, id: `rs_${what}${turn}` })
        const call = (id: string, input: string): Part => ({ call: 'Do', id: `${id}${turn}`, input })
        script.push(says(thinking('a'), { text: 'I do.' }, call('x', '{"n":1}'), thinking('b'), call('y', '')), says(thinking('c'), { text: 'Done.' }))
      }
      const image = ['image', PNG, 'image_type', 'image/png']
      await begin((name, id) => [['TOOL_RESULT', id, name, id.startsWith('x') ? 'seen' : '', ...(id.startsWith('x') ? image : [])]], ...script)
      for (let turn = 0; turn < turns; turn++) t.same((await ring.turn(`go ${turn}`, ...image)).at(-1), ['STOP', 'end_turn'])
      t.same(mock.faults, [])
      t.equal(mock.requests.length, 2 * turns)
      for (const [at, { body }] of mock.requests.entries()) if (at > 0) t.ok(body.startsWith(opened(mock.requests[at - 1]?.body as string)), `request ${at}`)
      t.match(ring.all('TOOL_CALL').slice(0, 2), [
        ['TOOL_CALL', 'Do', 'x0', '{"n":1}'],
        ['TOOL_CALL', 'Do', 'y0', '{}'],
      ])
    })

    await t.test(`31: empty and blank content`, async (t) => {
      const script = [says({ text: '\n' }, { call: 'Do', id: 'a', input: '{}' }), says({ thinking: 'only', id: 'rs_1' }), says(), says({ text: 'Well.' })]
      await begin((name, id) => [['TOOL_RESULT', id, name, '']], ...script)
      for (const input of ['  ', 'b', 'c']) await ring.turn(input)
      t.same(ring.sent.at(-1), ['STOP', 'end_turn'])
      t.same(mock.faults, [])
      t.equal(mock.requests.length, 4)
    })

    await t.test(`35: tools that do not exist, and inputs that are none`, async (t) => {
      const calls: Part[] = [
        { call: 'bash_exec', id: 'a', input: '{}' },
        { call: 'a name', id: 'a', input: '{"command":null}' },
        { call: 'x'.repeat(300), id: 'b/c', input: '{}' },
        { call: '__proto__', id: '', input: '{}' },
      ]
      const bad = says({ thinking: 'bad', id: 'rs_2' }, { call: 'Do', id: 'd', input: '[]' })
      await begin(() => undefined, says(...calls), bad, says({ text: 'Sorry.' }))
      const sent = await ring.turn('go')
      t.same(sent.at(-1), ['STOP', 'end_turn'])
      t.same(mock.faults, [])
      t.equal(mock.requests.length, 3)
      t.match(ring.all('TOOL_RESULT', sent)[0]?.[3], /There is no tool "bash_exec". The tools are: Do\./)
      t.match(ring.all('ERROR', sent)[0]?.[1], /its input is no JSON object/)
    })

    await t.test(`32: thinking is left out when the model changes`, async (t) => {
      await begin(() => undefined, says({ text: 'Hi.' }))
      const history = [
        ['USER_MESSAGE', 'go'],
        ['THINKING', 'hm', 'opaque', '[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}]'],
        ['TEXT', 'x'],
        ['USAGE', '1', '1', '0', '0', 'model', 'other', 'kind', 'agent'],
        ['STOP', 'end_turn'],
      ]
      ring.send(...history.map((fields) => ['HISTORY', ...fields]))
      t.same((await ring.turn('on')).at(-1), ['STOP', 'end_turn'])
      t.same(mock.faults, [])
      t.notMatch(mock.requests[0]?.body, '"rs"')
    })

    ring.send(['END'])
    t.match(await ring.ended, { status: 0, stderr: '' })
  })
}

t.test('30: what a server refuses is learned once', async (t) => {
  const { mock, env } = await openAiServer(t, 'chat')
  mock.answer(refused(400, 'unknown field: stream_options'), chatSays({ text: 'a' }), chatSays({ text: 'b' }))
  const input = frames(['USER_INPUT', 'a'], ['USER_INPUT', 'b'])
  const { status, stdout } = await run('agent-loop', ['--model=m', '--max-tokens=50'], { input, env })
  t.equal(status, 0)
  t.equal(mock.faults.length, 1, 'max_tokens is refused once')
  t.same(
    fieldsOf(stdout).filter(([type]) => type === 'TEXT'),
    [
      ['TEXT', 'a'],
      ['TEXT', 'b'],
    ],
  )
  const [first, second, third, last] = mock.bodies as Record<string, unknown>[]
  t.match(first, { max_tokens: 50, stream_options: {} })
  t.match(second, { max_completion_tokens: 50, stream_options: {} })
  for (const body of [third, last]) t.notOk('stream_options' in (body as object))
  t.match(last, { max_completion_tokens: 50 })
})

t.test('a server without a key is sent none; a model has to be named', async (t) => {
  const { mock, env } = await openAiServer(t, 'chat')
  const { OPENAI_API_KEY: _, ...keyless } = env
  await run('agent-loop', ['--model=m'], { input: frames(['USER_INPUT', 'hi']), env: keyless })
  t.equal(mock.requests[0]?.headers.authorization, undefined)
  t.match(await run('agent-loop', [], { env }), { status: 64, stderr: /^agent-loop: which model of http\S+\? --model M; .*\n$/ })
})
