import { messageFields } from '@agentpipe/message'
import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { call, did } from './support/anthropic-conversation.js'
import { AnthropicServer, errorAnswer, type Part, response, says, stream } from './support/anthropic-server.js'
import type { Answer, MockRequest, Script } from './support/mock-server.js'
import { Ring, type RingOptions } from './support/ring.js'

interface Test {
  teardown(work: () => unknown): void
}

const LONG = 'long '.repeat(150)

/** An answer that says `parts`, to a request of so many tokens. */
function counted(tokens: number, ...parts: readonly Part[]): Answer {
  const [start, ...rest] = response(parts)
  const message = { ...(start?.message as object), usage: { input_tokens: tokens, output_tokens: 1 } }
  return { body: stream({ type: 'message_start', message }, ...rest) }
}

const text = (said: string): Part => ({ text: said })

async function started(t: Test, script: readonly Script[], args: readonly string[], options: RingOptions = {}) {
  const server = await AnthropicServer.start(t)
  server.mock.answer(...script)
  const ring = new Ring(t, undefined, { env: server.env, tools: ['Do'], answer: did, ...options, args: ['--model=m', ...args] })
  return { server, ring }
}

/** What a request ends in: the text of its last block. */
function lastText(messages: AnthropicServer['asked'][number] | undefined): string {
  return String(messages?.at(-1)?.content.at(-1)?.text)
}

t.test('old turns are summarised where the window is nearly full, and a resumed session is the same', async (t) => {
  const script = [counted(300, text('First.')), counted(1650, text('Second.')), says(text('SUMMARY')), counted(200, text('Third.')), says(text('Fourth.'))]
  const { server, ring } = await started(t, script, ['--max-context=2000'])
  const inputs = [LONG, 'two', 'three', 'four'].map((each) => ['USER_INPUT', each])
  ring.send(...inputs, ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  const [, second, summarising, third, fourth] = server.asked
  t.match(lastText(summarising), /Write down, for yourself/)
  t.equal(JSON.stringify(summarising?.slice(0, 2).map(({ role }) => role)), '["user","assistant"]')
  t.equal(JSON.stringify(unmarked(summarising?.slice(0, 3))), JSON.stringify(unmarked(second)), 'the server has it in its cache')
  t.same(
    JSON.stringify(server.mock.bodies.map((body) => (body as { tools: unknown }).tools).at(2)),
    JSON.stringify((server.mock.bodies[1] as { tools: unknown }).tools),
  )
  t.match(third?.[0]?.content, [{ text: /summary[\s\S]*SUMMARY$/ }, { text: 'two' }])
  t.equal(third?.length, 3)
  const [update] = ring.all('CONTEXT_UPDATE')
  t.match(update, ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'SUMMARY', 'kept', '2', 'tokens_before', /^1[67]\d\d$/, 'tokens_after', /^\d{2,3}$/])
  t.same(
    ring.all('USAGE').map((usage) => usage.at(-1)),
    ['agent', 'agent', 'compact', 'agent', 'agent'],
  )
  t.same(
    ring
      .all('TEXT')
      .map(([, said]) => said)
      .join(''),
    'First.Second.Third.Fourth.',
    'the summary is nothing that a user reads',
  )
  const resumed = await started(t, [says(text('Fourth.'))], ['--max-context=2000'])
  const upTo = ring.sent.findIndex(([type, said]) => type === 'USER_MESSAGE' && said === 'four')
  resumed.ring.send(...ring.sent.slice(1, upTo).map((fields) => ['HISTORY', ...fields]), ['USER_INPUT', 'four'], ['END'])
  await resumed.ring.ended
  t.same(unmarked(resumed.server.asked[0]), unmarked(fourth))
})

/** Messages without the marks for the server's cache. */
function unmarked(messages: AnthropicServer['asked'][number] | undefined): unknown {
  return JSON.parse(JSON.stringify(messages, (key, value) => (key === 'cache_control' ? undefined : value)))
}

t.test('a single turn that is too long for the window is summarised up to its last responses', async (t) => {
  const big = (name: string, id: string) => [['TOOL_RESULT', id, name, `${id} ${LONG}`]]
  const script = [counted(100, text('I do it.'), call('c1')), counted(1650, call('c2'), call('c3')), says(text('SUMMARY')), says(text('Done.'))]
  const { server, ring } = await started(t, script, ['--max-context=2000'], { answer: big })
  ring.send(['USER_INPUT', 'work'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  t.match(ring.all('CONTEXT_UPDATE'), [{ 6: '0', 7: 'kept_responses', 8: '1' }])
  const last = server.asked[3]
  t.match(last?.[0]?.content, [{ text: /SUMMARY\n\nWhat the user asked for last:\nwork$/ }])
  t.match(last?.[1]?.content, [{ type: 'tool_use' }, { type: 'tool_use' }])
  t.equal(last?.length, 3)
})

/** A server that refuses requests of more than `bytes`. */
function upTo(bytes: number, answers: readonly Answer[]): Script[] {
  const left = [...answers]
  const answer = ({ body }: MockRequest): Answer =>
    body.length > bytes ? errorAnswer(400, 'invalid_request_error', 'prompt is too long: 300000 tokens > 200000 maximum') : (left.shift() as Answer)
  return Array.from({ length: 20 }, () => answer)
}

t.test('36: results that are too long for the server are made shorter, and the session stays usable', async (t) => {
  const huge = (name: string, id: string) => [['TOOL_RESULT', id, name, `${id} ${'x'.repeat(400_000)} end of ${id}`, 'full_output', `/tmp/${id}`]]
  const reads = says(call('c1'), call('c2'), call('c3'))
  for (const args of [[], ['--compact-at=0'], ['--max-context=10000000']]) {
    const { server, ring } = await started(t, [], args, { answer: huge })
    for (const bytes of [600_000, 60_000]) {
      const what = `${args} ${bytes}`
      await ring.forget()
      server.mock.restart(...upTo(bytes, [reads, says(text('Read.')), ...Array.from({ length: 4 }, () => says(text('SUMMARY')))]))
      const before = server.mock.requests.length
      for (const input of ['read', 'on']) t.same((await ring.turn(input)).at(-1), ['STOP', 'end_turn'], what)
      t.same(ring.all('ERROR'), [], what)
      t.ok(server.mock.faults.every((fault) => /too long/.test(fault)))
      t.ok(server.mock.requests.length - before < 12, `${what}: ${server.mock.requests.length - before} requests`)
      t.ok(/characters are left out here|SUMMARY/.test(JSON.stringify(server.asked.at(-1))))
    }
    ring.send(['END'])
    t.match(await ring.ended, { status: 0, stderr: '' }, `${args}`)
  }
})

t.test('36: what a server refuses at any size ends the turn with what it said, and the next one begins', async (t) => {
  const { ring, server } = await started(t, [...upTo(0, []).slice(0, 1), says(text('Fine.'))], [])
  ring.send(['USER_INPUT', 'hi'])
  await ring.until('STOP')
  t.match(ring.all('ERROR'), [['ERROR', /too long/, 'code', 'too_long']])
  ring.send(['USER_INPUT', 'again'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.equal(server.mock.requests.length, 2)
})

t.test('a result that is bigger than its share of the window is shortened from the beginning: requests keep their prefix', async (t) => {
  const huge = (name: string, id: string) => [['TOOL_RESULT', id, name, `begin ${'é😀'.repeat(30_000)} end`, 'full_output', '/tmp/all']]
  const { server, ring } = await started(t, [says(call('c1')), says(call('c2')), says(text('Done.'))], ['--max-context=40000'], { answer: huge })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  const [, second, third] = server.asked
  t.same(unmarked(third?.slice(0, 3)), unmarked(second))
  const result = String(second?.at(-1)?.content[0]?.content)
  t.match(
    result,
    /^begin é[\s\S]*\n\[\.\.\. \d+ characters are left out here, which do not fit into the model's context window; the whole of it is in \/tmp\/all \.\.\.\]\n[\s\S]* end$/,
  )
  t.ok(Buffer.byteLength(result) < 40_000)
})

t.test('CONTROL compact: with what it is to care for; again, and with nothing there', async (t) => {
  const { server, ring } = await started(t, [says(text('One.')), says(text('SUMMARY')), says(text('Two.'))], [])
  ring.send(['CONTROL', 'compact', ''])
  t.match(await ring.until('ERROR'), ['ERROR', /CONTROL compact: nothing was said yet/, 'code', 'control'])
  ring.send(['USER_INPUT', 'one'], ['CONTROL', 'compact', 'the names of files'])
  t.match(await ring.until('CONTEXT_UPDATE'), ['CONTEXT_UPDATE', 'compact', 'manual', 'summary', 'SUMMARY'])
  t.match(lastText(server.asked[1]), /Above all: the names of files$/)
  ring.send(['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.match(server.asked[2], [{ content: [{ text: /SUMMARY/ }, { text: 'two' }] }])
  t.equal(server.asked[2]?.length, 1)
})

t.test('a summary that is not made drops nothing: refused, empty, interrupted', async (t) => {
  const never: Answer = { body: stream(...response([text('x')]).slice(0, 3)), end: 'never' }
  const refused = errorAnswer(400, 'invalid_request_error', 'no')
  const { server, ring } = await started(t, [says(text('One.')), refused, says(text(' ')), never, says(text('Two.'))], [])
  ring.send(['USER_INPUT', 'one'], ['CONTROL', 'compact', ''])
  t.match(await ring.until('ERROR'), ['ERROR', /CONTROL compact: the model server answers 400: no/])
  ring.send(['CONTROL', 'compact', ''])
  t.match(await ring.until('ERROR', 2), ['ERROR', /said nothing/])
  ring.send(['CONTROL', 'compact', ''])
  await eventually(() => server.mock.requests.length === 4)
  ring.send(['INTERRUPT', 'n1'])
  t.match(await ring.until('ERROR', 3), ['ERROR', /CONTROL compact was interrupted/])
  ring.send(['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.all('CONTEXT_UPDATE'), [])
  t.match(server.asked.at(-1), [{ content: [{ text: 'one' }] }, {}, { content: [{ text: 'two' }] }])
})

t.test('SIGINT while old turns are summarised ends the turn; the next one tries again', async (t) => {
  const never: Answer = { body: stream(...response([text('x')]).slice(0, 3)), end: 'never' }
  const script = [counted(1650, text('First.')), never, says(text('SUMMARY')), says(text('Third.'))]
  const { server, ring } = await started(t, script, ['--max-context=2000'])
  ring.send(['USER_INPUT', LONG], ['USER_INPUT', 'two'])
  await eventually(() => server.mock.requests.length === 2)
  ring.kill('SIGINT')
  t.match(await ring.until('STOP', 2), ['STOP', 'interrupted'])
  ring.send(['USER_INPUT', 'three'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.match(server.asked.at(-1), [{ content: [{ text: /SUMMARY/ }, { text: 'two' }, { text: 'three' }] }])
})

t.test('a model that makes no summary goes on as long as it can', async (t) => {
  const script = [counted(1650, text('First.')), errorAnswer(400, 'invalid_request_error', 'no summaries'), says(text('Second.'))]
  const { ring } = await started(t, script, ['--max-context=2000'])
  ring.send(['USER_INPUT', LONG], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.match(ring.all('ERROR'), [['ERROR', /the conversation was not summarised: .*no summaries/, 'code', 'compact']])
  t.match(
    ring
      .all('TEXT')
      .map(([, said]) => said)
      .join(''),
    'First.Second.',
  )
})

t.test('--compact-at 0 summarises nothing', async (t) => {
  const { server, ring } = await started(t, [counted(1650, text('First.')), says(text('Second.'))], ['--max-context=2000', '--compact-at=0'])
  ring.send(['USER_INPUT', LONG], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.equal(server.mock.requests.length, 2)
})

t.test('CONTROL clear, and a session resumed after it', async (t) => {
  const { server, ring } = await started(t, [says(text('One.')), says(text('Two.'))], [])
  ring.send(['USER_INPUT', 'one'], ['CONTROL', 'clear', ''], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(server.asked[1], [{ content: [{ text: 'two' }] }])
  t.equal(server.asked[1]?.length, 1)
  const resumed = await started(t, [says({ id: 'c1', name: 'Do', input: '{}' }), says(text('Three.'))], [])
  resumed.ring.send(...ring.sent.slice(1).map((fields) => ['HISTORY', ...fields]), ['USER_INPUT', 'three'], ['END'])
  await resumed.ring.ended
  t.match(resumed.ring.all('TOOL_CALL')[0]?.[2], /^c1_[a-z0-9]+$/, 'calls of before are not told, so none may get the id of one')
  t.same(
    resumed.server.asked[0]?.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
})

t.test('CONTROL model: another model answers from the next turn on', async (t) => {
  const { server, ring } = await started(t, [says(text('One.')), says(text('Two.'))], [])
  ring.send(['USER_INPUT', 'one'], ['CONTROL', 'model', ' other '], ['CONTROL', 'model', ''], ['CONTROL', 'dance', ''], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(
    server.mock.bodies.map((body) => (body as { model: string }).model),
    ['m', 'other'],
  )
  t.match(ring.all('ERROR'), [
    ['ERROR', /needs the name of a model/],
    ['ERROR', 'there is no CONTROL "dance": compact, model, clear'],
  ])
  t.match(ring.all('USAGE').at(-1), messageFields('USAGE', ['10', '7', '3', '4'], { model: 'other', kind: 'agent' }))
})

t.test('a capture that is replayed is neither summarised nor shortened', async (t) => {
  const ring = new Ring(t, Buffer.from(''), { args: ['--max-context=1'] })
  ring.send(['CONTROL', 'compact', ''], ['END'])
  await ring.ended
  t.match(ring.all('ERROR'), [['ERROR', /a capture that is replayed makes no summary/]])
})
