import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { type Failure, turnStatus } from '../src/turn-end.js'
import { AnthropicServer, response, says, stream } from './support/anthropic-server.js'
import type { Answer } from './support/mock-server.js'
import { Ring } from './support/ring.js'

t.setTimeout(240_000)

const SAID = { type: 'error', error: { type: 'x', message: 'what the server says' } }
const JSON_TYPE = { 'content-type': 'application/json' }

/** A turn against a server with this script. */
async function turn(t: Parameters<typeof AnthropicServer.start>[0], script: readonly Answer[], args: readonly string[] = [], env: Record<string, string> = {}) {
  const server = await AnthropicServer.start(t, ...script)
  const ring = new Ring(t, undefined, { env: { ...server.env, ...env }, args: ['--model=m', '--no-tools', ...args] })
  ring.send(['USER_INPUT', 'hi'], ['END'])
  return { server, ring, ended: await ring.ended }
}

/** An agent-loop whose server answers what the test has it answer, turn by turn. */
async function served(t: Parameters<typeof AnthropicServer.start>[0], args: readonly string[] = []) {
  const server = await AnthropicServer.start(t)
  return { server, ring: new Ring(t, undefined, { env: server.env, args: ['--model=m', '--no-tools', ...args] }) }
}

const failing = (status: number, message = 'what the server says', headers = {}): Answer => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify({ ...SAID, error: { type: 'x', message } }),
})

t.test('what a status means: asked again or not, the code, the exit status', async (t) => {
  const cases: [answer: Answer, retried: boolean, code: Failure, status: number][] = [
    [failing(403), false, 'key', 77],
    [failing(400), false, 'rejected', 69],
    [failing(404), false, 'rejected', 69],
    [failing(400, 'prompt is too long: 300000 tokens > 200000 maximum'), false, 'too_long', 69],
    [failing(413), false, 'too_long', 69],
    [failing(429, 'You exceeded your current quota, please check your plan and billing details'), false, 'quota', 75],
    [failing(429), true, 'busy', 75],
    [failing(529), true, 'busy', 75],
    [failing(503), true, 'busy', 75],
    [failing(500), true, 'unreachable', 69],
    [{ headers: JSON_TYPE, body: JSON.stringify(SAID) }, true, 'unreachable', 69],
    [
      { headers: { 'content-type': 'text/html' }, body: '<html><style>x{}</style><body><h1>Log in</h1>\u001b[31m to\ngo on</body></html>' },
      true,
      'unreachable',
      69,
    ],
    [{ status: 302, headers: { location: 'https://evil.test/' }, body: '' }, false, 'rejected', 69],
    [failing(401), false, 'key', 77],
  ]
  const { server, ring } = await served(t, ['--retries', '1'])
  for (const [answer, retried, code, status] of cases) {
    await ring.forget()
    server.mock.restart(answer, answer)
    const requests = server.mock.requests.length
    const sent = await ring.turn('hi')
    const what = `${answer.status ?? 200} ${code}`
    t.match(ring.all('ERROR', sent), [['ERROR', /the model server/, 'code', code]], what)
    t.equal(server.mock.requests.length - requests, retried ? 2 : 1, what)
    t.equal(ring.all('RETRY', sent).length, retried ? 1 : 0, what)
    t.equal(turnStatus({ reason: 'error', failure: code }), status, what)
    if (answer.body !== '') t.match(ring.all('ERROR', sent)[0]?.[1], /what the server says|too long|quota|Log in/, what)
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 77 })
})

t.test('it passes, and what was asked for again is said once; SIGINT while it waits to ask again: STOP at once, and the next turn works', async (t) => {
  const { server, ring } = await served(t)
  server.mock.restart(failing(529), failing(429, 'slow', { 'retry-after': '1' }), { body: '' }, says({ text: 'Hi.' }))
  const sent = await ring.turn('hi')
  t.equal(server.mock.requests.length, 4)
  t.match(
    ring.all('RETRY', sent).map((fields) => [fields[2], fields[4]]),
    [
      ['1', /^\d$/],
      ['2', '1000'],
      ['3', /^\d+$/],
    ],
  )
  t.match(sent.at(-1), ['STOP', 'end_turn'])

  server.mock.restart(failing(429, 'wait', { 'retry-after': '200' }), says({ text: 'Hi.' }))
  const interrupted = ring.turn('one')
  t.match(await ring.until('RETRY', 4), ['RETRY', 'attempt', '1', 'delay_ms', '200000'])
  ring.kill('SIGINT')
  t.same((await interrupted).at(-1), ['STOP', 'interrupted'])
  t.same((await ring.turn('two')).at(-1), ['STOP', 'end_turn'])
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
})

t.test('34: a server that is silent', async (t) => {
  const begun = stream(...response([{ text: 'Hello' }]).slice(0, 1))
  const said = stream(...response([{ text: 'Hello' }]).slice(0, 4))
  const ping = 'event: ping\ndata: {"type": "ping"}\n\n'
  const whole = stream(...response([{ text: 'Hi.' }]))
  const { server, ring } = await served(t, ['--idle-timeout', '0.6'])
  const answered = (...script: readonly Answer[]) => {
    server.mock.restart(...script)
    return ring.turn('hi')
  }
  for (const answer of [
    { body: begun, end: 'never' },
    { body: '', end: 'never' },
    { body: whole, delay: 60_000 },
  ] as const) {
    const sent = await answered(answer, says({ text: 'Hi.' }))
    t.match(ring.all('RETRY', sent)[0]?.[6], /silent for 0.6 s; see --idle-timeout/)
    t.same(sent.at(-1), ['STOP', 'end_turn'])
  }
  const requests = server.mock.requests.length
  const shown = await answered({ body: said, end: 'never' }, says({ text: 'Hi.' }))
  t.match(ring.all('ERROR', shown), [['ERROR', /silent for 0.6 s/, 'code', 'unreachable']])
  t.same(shown.at(-1), ['STOP', 'error'])
  t.equal(server.mock.requests.length - requests, 1, 'nothing is asked again once it was shown')
  const pinged = await answered({ body: ping.repeat(8) + whole, pieces: ping.length, gap: 150 })
  t.same([ring.all('RETRY', pinged), pinged.at(-1)], [[], ['STOP', 'end_turn']], 'pings keep it alive')
  const open = await answered({ body: whole, end: 'never' })
  t.same([ring.all('RETRY', open), open.at(-1)], [[], ['STOP', 'end_turn']], 'the last event ends it, though the connection stays')
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  const total = await turn(t, [{ body: ping.repeat(50), pieces: ping.length, gap: 50 }], ['--request-timeout', '0.5', '--retries', '0'])
  t.match(total.ring.all('ERROR'), [['ERROR', /took 0.5 s; see --request-timeout/]])
  t.match(total.ended, { status: 69 })
})

const ENDLESS = { 'a line without an end': 'x', 'an event without an end, in short lines': `data: ${'x'.repeat(1000)}\r\n` }
for (const [what, content] of Object.entries(ENDLESS)) {
  t.test(`${what} is given up before it fills the memory`, async (t) => {
    const { ring, ended } = await turn(t, [{ body: Buffer.alloc(150 * 1024 ** 2, content), pieces: 1024 ** 2, end: 'never' }])
    t.match(ended, { status: 69, stderr: '' })
    t.match(ring.all('ERROR'), [['ERROR', /an event of more than 128 MiB/, 'code', 'rejected']])
  })
}

t.test('nobody there', async (t) => {
  const tcp = createTcpServer().listen(0, '127.0.0.1')
  await eventually(() => tcp.listening)
  const { port } = tcp.address() as AddressInfo
  tcp.close()
  const { ring, ended } = await turn(t, [], ['--base-url', `http://127.0.0.1:${port}`, '--retries', '1'])
  t.match(ended, { status: 69 })
  t.match(ring.all('ERROR'), [['ERROR', `cannot reach the model server at 127.0.0.1:${port}: connection refused, is it running?`]])
})

t.test('37: a proxy is used and named; loopback goes around it', async (t) => {
  const seen: string[] = []
  const proxy = createServer((request, answer) => {
    seen.push(request.url ?? '')
    answer.writeHead(503).end()
  })
  proxy.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`)
    socket.end('HTTP/1.1 502 no\r\n\r\n')
  })
  proxy.listen(0, '127.0.0.1')
  t.teardown(() => proxy.close())
  await eventually(() => proxy.listening)
  const url = `http://me:geheim@127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const through = await turn(t, [], ['--base-url', 'https://model.invalid', '--retries', '0'], { HTTPS_PROXY: url })
  t.same(seen, ['CONNECT model.invalid:443'])
  t.match(through.ring.all('ERROR')[0]?.[1], /model.invalid through the proxy 127.0.0.1:\d+ \(HTTPS_PROXY\)/)
  t.notMatch(Buffer.from(JSON.stringify(through.ring.sent)).toString(), 'geheim')
  t.match((await turn(t, [says({ text: 'Hi.' })], [], { HTTPS_PROXY: url, http_proxy: url, ALL_PROXY: url })).ended, { status: 0 })
  t.equal(seen.length, 1)
  for (const provider of ['openai', 'openai-responses', 'google']) {
    const args = ['--provider', provider, '--base-url', 'https://model.invalid', '--retries', '0']
    const { ring } = await turn(t, [], args, { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k', https_proxy: url })
    t.match(ring.all('ERROR')[0]?.[1], /model.invalid through the proxy 127.0.0.1:\d+ \(https_proxy\)/, provider)
  }
  t.same(seen, Array(4).fill('CONNECT model.invalid:443'))
})

t.test('keys: from a file, from a command, and nowhere to be seen', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'agent-loop-test-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const [file, log] = [join(directory, 'key'), join(directory, 'log')]
  writeFileSync(file, 'geheim-7\nuser: me\n', { mode: 0o600 })
  const ways: [args: string[], env: Record<string, string>][] = [
    [['--key-file', file], { ANTHROPIC_API_KEY: '' }],
    [['--key-command', `cat ${file}`], { ANTHROPIC_API_KEY: 'other' }],
    [[], { ANTHROPIC_API_KEY: 'geheim-7' }],
  ]
  for (const [args, env] of ways) {
    const answer = { ...says({ text: 'Your key is geheim-7.' }), headers: { 'content-type': 'text/event-stream', 'set-cookie': 'geheim-7' } }
    const { server, ring, ended } = await turn(t, [failing(529, 'geheim-7'), answer], ['--debug-http', log, '--provider', 'anthropic', ...args], env)
    t.match(ended, { status: 0, stderr: '' })
    t.match(ring.all('RETRY'), [{ 6: /\[key\]/ }])
    t.notMatch(JSON.stringify(ring.all('RETRY')), 'geheim')
    t.equal(server.mock.requests[1]?.headers['x-api-key'], 'geheim-7')
  }
  const written = readFileSync(log, 'utf8')
  t.notMatch(written, 'geheim')
  t.match(written, /> \S+ POST http:[\s\S]*> x-api-key: \[removed\][\s\S]*> \{"[\s\S]*< \S+ 529[\s\S]*< \S+ 200[\s\S]*< data: /)
  t.equal(statSync(log).mode & 0o777, 0o600)
})

t.test('a profile: flags go before it, it goes before the environment', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'agent-loop-test-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const config = join(directory, 'config.json')
  writeFileSync(config, JSON.stringify({ 'agent-loop': { profiles: { mine: { model: 'from-profile', 'max-tokens': 77 }, bad: { modle: 'x' } } } }))
  const env = { AGENTPIPE_CONFIG: config, AGENTPIPE_AGENT_LOOP_MODEL: 'from-environment' }
  const server = await AnthropicServer.start(t, says({ text: 'x' }), says({ text: 'x' }))
  for (const args of [
    ['--profile', 'mine'],
    ['--profile', 'mine', '--model', 'from-flag'],
  ]) {
    const ring = new Ring(t, undefined, { env: { ...server.env, ...env }, args: ['--no-tools', ...args] })
    ring.send(['USER_INPUT', 'hi'], ['END'])
    t.match(await ring.ended, { status: 0, stderr: '' })
  }
  t.match(server.mock.bodies, [{ model: 'from-profile', max_tokens: 77 }, { model: 'from-flag' }])
  const bad = new Ring(t, undefined, { env: { ...server.env, ...env }, args: ['--profile', 'bad'] })
  t.match(await bad.ended, { status: 78, stderr: /agent-loop\.profiles\.bad\.modle: there is no such option/ })
})

t.test('a model server on this machine is named where nothing else is', async (t) => {
  const ollama = createServer((_, answer) => answer.end('{"models":[{"name":"qwen3:8b"},{"name":"llama3"}]}'))
  ollama.listen(0, '127.0.0.1')
  t.teardown(() => ollama.close())
  await eventually(() => ollama.listening)
  const { port } = ollama.address() as AddressInfo
  const ring = new Ring(t, undefined, { env: { AGENTPIPE_OLLAMA_URL: `http://127.0.0.1:${port}` } })
  t.match(await ring.ended, {
    status: 78,
    stderr: `; Ollama is running here: --provider openai --base-url http://localhost:${port}/v1 --model qwen3:8b (it has qwen3:8b, llama3)\n`,
  })
})
