import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldsOf, frames, run } from '@agentpipe/testing'
import t from 'tap'
import { badKey, googleServer, type Part, perMinute, says } from './support/google-server.js'
import type { Answer } from './support/mock-server.js'
import { Ring } from './support/ring.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=='
const GIF = 'R0lGODdhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs='

/** The body of a request up to the end of its last message, and what stands behind that. */
function halves(body: string): [string, string] {
  const messages = JSON.stringify({ contents: JSON.parse(body).contents }).slice(0, -2)
  return [messages, body.slice(messages.length)]
}

t.test('a plain answer', async (t) => {
  const { mock, env } = await googleServer(t)
  mock.answer(says({ thinking: 'hm' }, { text: 'Hello.', signature: 'U2ln' }))
  const args = ['--session=s', '--model=m', '--append-system=Be nice.']
  const { status, stdout, stderr } = await run('agent-loop', args, { input: frames(['USER_INPUT', 'hi']), env: { ...env, GOOGLE_API_KEY: 'other' } })
  t.match({ status, stderr, faults: mock.faults }, { status: 0, stderr: '', faults: [] })
  t.same(fieldsOf(stdout).slice(1), [
    ['USER_MESSAGE', 'hi'],
    ['THINKING', 'hm'],
    ['TEXT', 'He'],
    ['TEXT', 'llo.'],
    ['THINKING', '', 'opaque', 'U2ln'],
    ['USAGE', '6', '5', '4', '0', 'model', 'm', 'kind', 'agent'],
    ['STOP', 'end_turn'],
  ])
  t.match(mock.bodies, [{ systemInstruction: { parts: [{ text: /Be nice\.$/ }] }, generationConfig: { thinkingConfig: { includeThoughts: true } } }])
})

t.test('turns with parallel calls, thinking and images; each request begins with the bytes of the last one', async (t) => {
  const { mock, env } = await googleServer(t)
  const turns = 12
  for (let turn = 0; turn < turns; turn++) {
    const first: Part = { call: 'Do', args: { n: turn, text: '\u{1F600}\u2028' }, signature: `Y2Fs${turn}A==`, ...(turn % 2 === 0 ? {} : { id: `x${turn}` }) }
    const other: Part = { call: 'Do', args: { other: turn } }
    const text: Part = { text: `I do ${turn}.`, signature: `dGV4${turn}A==` }
    mock.answer(
      says({ thinking: 'a' }, turn % 3 === 0 ? { text: 'I do.' } : text, first, other),
      says({ thinking: 'b' }, { text: `Done ${turn}.`, signature: `RG9u${turn}A==` }),
    )
  }
  const ring = new Ring(t, undefined, {
    env,
    args: ['--model=m', '--append-system=s'],
    tools: ['Do'],
    answer: (name, id, input) => [['TOOL_RESULT', id, name, input.includes('other') ? '' : 'seen', 'image', PNG, 'image_type', 'image/png']],
  })
  for (let turn = 0; turn < turns; turn++) ring.send(['USER_INPUT', `go ${turn}`, 'image', PNG, 'image_type', 'image/png'])
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(mock.faults, [])
  t.equal(mock.requests.length, 2 * turns)
  for (const [at, { body }] of mock.requests.entries()) {
    const [messages, rest] = halves(mock.requests[Math.max(0, at - 1)]?.body as string)
    t.ok(body.startsWith(messages), `request ${at}`)
    t.equal(halves(body)[1], rest, 'what follows the messages stays the same')
  }
})

t.test('31: empty and blank content', async (t) => {
  const { mock, env } = await googleServer(t)
  mock.answer(
    says({ text: '\n' }, { call: 'Do', signature: 'QQ==' }),
    says({ thinking: 'only' }),
    says(),
    says({ text: ' ', signature: 'Qg==' }),
    says({ text: 'Well.' }),
  )
  const ring = new Ring(t, undefined, { env, args: ['--model=m'], tools: ['Do'], answer: (name, id) => [['TOOL_RESULT', id, name, '']] })
  const images = ['image', GIF, 'image_type', 'image/gif']
  ring.send(['USER_INPUT', '  '], ['USER_INPUT', 'b', ...images], ['USER_INPUT', 'c'], ['USER_INPUT', 'd'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(mock.faults, [])
  t.equal(mock.requests.length, 5)
  t.match(mock.requests[4]?.body, /an image that cannot be shown/)
})

t.test('35: tools that do not exist, and calls that are none', async (t) => {
  const { mock, env } = await googleServer(t)
  const calls: Part[] = [{ call: 'bash_exec' }, { call: 'a name', args: { command: null } }, { call: 'x'.repeat(300) }, { call: '__proto__' }, { call: '9' }]
  const malformed: Answer = { body: 'data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"print(Do())"}]}\n\n' }
  mock.answer(says(...calls), says({ call: 'Do', args: [] }), malformed, says({ text: 'Sorry.' }))
  const ring = new Ring(t, undefined, { env, args: ['--model=m'], tools: ['Do'] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(mock.faults, [])
  t.equal(mock.requests.length, 4)
  t.match(ring.all('TOOL_RESULT')[0]?.[3], /There is no tool "bash_exec". The tools are: Do\./)
  t.match(ring.all('ERROR'), [
    ['ERROR', /a call of Do was not made/],
    ['ERROR', 'a call of a tool was not made: its input is no JSON object: "MALFORMED_FUNCTION_CALL"'],
  ])
  t.match(mock.requests[3]?.body, /MALFORMED_FUNCTION_CALL/)
})

t.test('calls that are malformed again and again end the turn', async (t) => {
  const { mock, env } = await googleServer(t)
  mock.answer(...Array.from({ length: 9 }, (): Answer => ({ body: 'data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n' })))
  const { status } = await run('agent-loop', ['--model=m'], { input: frames(['USER_INPUT', 'go']), env })
  t.equal(status, 1)
  t.equal(mock.requests.length, 6)
})

t.test('names of tools that Google refuses are others for the model', async (t) => {
  const { mock, env } = await googleServer(t)
  const tools = ['Do', 'mcp.server/do it', '1st', 'mcp_server_do_it', 'ü'.repeat(200)]
  mock.answer(says({ call: 'mcp_server_do_it', signature: 'QQ==' }, { call: '_1st' }, { call: 'mcp_server_do_it_2', args: { n: 1 } }), says({ text: 'Done.' }))
  const ring = new Ring(t, undefined, { env, args: ['--model=m'], tools, answer: (name, id) => [['TOOL_RESULT', id, name, 'ok']] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(mock.faults, [])
  t.same(
    ring.all('TOOL_CALL').map(([, name]) => name),
    ['mcp_server_do_it', '1st', 'mcp.server/do it'],
  )
})

t.test('32: what another model has thought and signed is left out', async (t) => {
  const { mock, env } = await googleServer(t)
  mock.answer(says({ text: 'Hi.' }))
  const history = [
    ['USER_MESSAGE', 'go'],
    ['THINKING', 'hm', 'opaque', 'T3RoZXI='],
    ['TEXT', 'x'],
    ['TOOL_CALL', 'Do', 'c', '{"n":1}', 'n', '1', '@opaque', 'T3RoZXI='],
    ['TOOL_CALL', 'Do', 'd', '{"n":2}', 'n', '2'],
    ['USAGE', '1', '1', '0', '0', 'model', 'other', 'kind', 'agent'],
    ['TOOL_RESULT', 'd', 'Do', 'late', 'status', 'error'],
    ['STOP', 'interrupted'],
  ]
  const input = frames(...history.map((fields) => ['HISTORY', ...fields]), ['USER_INPUT', 'on'])
  t.match(await run('agent-loop', ['--model=m'], { input, env }), { status: 0 })
  t.same(mock.faults, [])
  t.notMatch(mock.requests[0]?.body, 'T3RoZXI=')
  t.match(mock.bodies[0], { contents: [{}, { parts: [{ text: 'x' }, { thoughtSignature: 'skip_thought_signature_validator' }, {}] }, {}] })
})

t.test('errors: asked again or not, after how long, the code, the exit status', async (t) => {
  const busy = perMinute('0.017s')
  const cases: [answer: Answer, retried: boolean, code: string, status: number, delay: string | undefined][] = [
    [badKey, false, 'key', 77, undefined],
    [busy, true, 'busy', 75, '17'],
    [{ body: busy.body as string }, true, 'busy', 75, '17'],
    [{ body: 'data: {"candidates":[{"content":{"parts":[]}}]}\n\n' }, true, 'cut', 69, undefined],
  ]
  for (const [answer, retried, code, status, delay] of cases) {
    const { mock, env } = await googleServer(t)
    mock.answer(answer, answer)
    const { status: ended, stdout } = await run('agent-loop', ['--model=m', '--retries=1'], { input: frames(['USER_INPUT', 'hi']), env })
    const said = fieldsOf(stdout)
    t.equal(ended, status, code)
    t.match(
      said.filter(([type]) => type === 'ERROR'),
      [['ERROR', /the model server/, 'code', code]],
      code,
    )
    t.equal(mock.requests.length, retried ? 2 : 1, code)
    if (delay !== undefined) t.match(said.find(([type]) => type === 'RETRY')?.join(' '), `delay_ms ${delay}`, code)
  }
})

t.test('a server without a key is sent none; --debug-http knows no key', async (t) => {
  const { mock, env } = await googleServer(t)
  const directory = mkdtempSync(join(tmpdir(), 'google-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const log = join(directory, 'log')
  const { GEMINI_API_KEY: _, ...keyless } = env
  const input = frames(['USER_INPUT', 'hi'])
  t.match(await run('agent-loop', ['--model=m'], { input, env: keyless }), { status: 77, stderr: '' })
  t.equal(mock.requests[0]?.headers['x-goog-api-key'], undefined)
  await run('agent-loop', ['--model=m', '--debug-http', log], { input, env: { ...env, GEMINI_API_KEY: 'very-secret' } })
  t.match(readFileSync(log, 'utf8'), /> \S+ POST http\S+streamGenerateContent[\s\S]*x-goog-api-key: \[removed\]/)
  t.notMatch(readFileSync(log, 'utf8'), 'very-secret')
})
