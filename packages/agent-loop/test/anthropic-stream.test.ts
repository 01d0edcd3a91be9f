import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { ask, joined, provider } from './support/anthropic-provider.js'
import { type Event, type Part, response, stream } from './support/anthropic-server.js'

// Every cut is a request: a loaded machine needs its time.
t.setTimeout(300_000)

const odd = '\u2028\u{1F600}\r\n'
const PARTS: readonly Part[] = [{ thinking: odd, signature: 'EqQBCg==' }, { redacted: 'b64==' }, { text: 'Hi é' }, { id: 't1', name: 'Do', input: '{"p":"é"}' }]
const WHOLE = [
  { kind: 'thinking', text: odd },
  { kind: 'thinking_end', signature: 'EqQBCg==' },
  { kind: 'thinking_end', opaque: 'b64==' },
  { kind: 'text', text: 'Hi é' },
  { kind: 'call', id: 't1', name: 'Do', input: '{"p":"é"}' },
  { kind: 'usage', usage: { input: 10, output: 7, cacheRead: 3, cacheCreation: 4 } },
  { kind: 'end', reason: 'calls' },
]

/** The stream of events, as bytes. */
const bytes = (events: readonly Event[]) => Buffer.from(stream(...events))

t.test('what is read does not depend on how the bytes come: cut at every offset, and byte by byte', async (t) => {
  const all = bytes(response(PARTS))
  let pieces: readonly Uint8Array[] = []
  const cut = provider(() => pieces)
  for (const both of everyCut(all)) {
    pieces = both.filter(({ length }) => length > 0)
    const { said, failure } = await ask(cut)
    if (failure !== undefined || JSON.stringify(joined(said)) !== JSON.stringify(WHOLE)) t.fail(`cut at ${both[0].length}: ${failure} ${JSON.stringify(said)}`)
  }
  t.same(joined((await ask(provider(Array.from(all, (byte) => Buffer.of(byte))))).said), WHOLE)
  const crlf = Buffer.from(all.toString().replaceAll('\n', '\r\n'))
  t.same(joined((await ask(provider([crlf]))).said), WHOLE)
})

t.test('28: a stream that ends early, at every offset, is cut, unless everything was said', async (t) => {
  const events = response(PARTS)
  const all = bytes(events)
  const complete = bytes(events.slice(0, -1)).length
  let end = 0
  const ending = provider(() => [all.subarray(0, end)])
  for (; end <= all.length; end++) {
    const { said, failure } = await ask(ending)
    const expected = end < complete ? 'cut' : undefined
    if (failure !== expected) t.fail(`ended at ${end}: ${failure}`)
    if (expected === undefined && JSON.stringify(joined(said)) !== JSON.stringify(WHOLE)) t.fail(`ended at ${end}: ${JSON.stringify(said)}`)
    if (expected === 'cut' && said.some(({ kind }) => kind === 'end')) t.fail(`ended at ${end}: as if it were done`)
  }
  t.equal((await ask(provider([]))).failure, 'cut')
})

t.test('32: a signature that was cut closes nothing', async (t) => {
  const events = response([{ thinking: 'hm', signature: 'EqQB' }])
  const { said, failure } = await ask(
    provider([
      bytes(
        events.slice(
          0,
          events.findIndex(({ type }) => type === 'content_block_stop'),
        ),
      ),
    ]),
  )
  t.equal(failure, 'cut')
  t.notOk(said.some(({ kind }) => kind === 'thinking_end'))
})

t.test('29: errors inside the stream', async (t) => {
  const start = response([{ text: 'Hello' }]).slice(0, 5)
  const cases: [type: string, message: string, failure: string][] = [
    ['overloaded_error', 'Overloaded', 'busy'],
    ['rate_limit_error', 'slow down', 'busy'],
    ['api_error', 'Internal server error', 'unreachable'],
    ['timeout_error', 'too slow', 'unreachable'],
    ['authentication_error', 'invalid x-api-key', 'key'],
    ['invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum', 'too_long'],
    ['invalid_request_error', 'messages: what?', 'rejected'],
    ['what_is_that_error', 'x', 'unreachable'],
  ]
  for (const [type, message, failure] of cases) {
    const error: Event = { type: 'error', error: { type, message } }
    for (const before of [[], start]) {
      const ended = await ask(provider([bytes([...before, error])]))
      t.match(ended, { failure, message: `the model server says: ${message} (${type})` })
    }
  }
  t.match(await ask(provider([Buffer.from('event: error\ndata: what?\n\n')])), { failure: /^(cut|unreachable)$/, message: /what\?/ })
})

t.test('events that make no sense end in an error or are passed over, never in a crash', async (t) => {
  const strange: string[] = [
    'null',
    '{}',
    '[]',
    '12',
    '{',
    '{"type":"content_block_delta"}',
    '{"type":"content_block_start","index":0}',
    '{"type":"message_delta"}',
    '{"type":"message_start"}',
  ]
  for (const data of strange) {
    const ended = await ask(provider([Buffer.from(`event: message_start\ndata: ${data}\n\n`)]))
    t.match(ended, { failure: 'cut' }, data)
    t.notMatch(ended.message, /\n/)
  }
  const late = [{ type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'x' } }, { type: 'content_block_stop', index: 9 }, { type: 'news' }]
  t.same(joined((await ask(provider([bytes([...late, ...response([{ text: 'Hi' }])])]))).said)[0], { kind: 'text', text: 'Hi' })
  t.match(await ask(provider([bytes([{ type: 'message_stop' }])])), { failure: 'cut' })
})

t.test('why a response ended', async (t) => {
  const text: readonly Part[] = [{ text: 'x' }]
  const call: readonly Part[] = [{ id: 't', name: 'Do', input: '{}' }]
  const cases: [parts: readonly Part[], reason: string, end: string][] = [
    [text, 'end_turn', 'end_turn'],
    [text, 'stop_sequence', 'end_turn'],
    [text, 'max_tokens', 'max_tokens'],
    [text, 'model_context_window_exceeded', 'max_tokens'],
    [text, 'refusal', 'refusal'],
    [text, 'pause_turn', 'calls'],
    [text, 'something_new', 'end_turn'],
    [call, 'tool_use', 'calls'],
    [call, 'end_turn', 'calls'],
    [call, 'max_tokens', 'max_tokens'],
    [[], 'end_turn', 'end_turn'],
    [[], 'tool_use', 'end_turn'],
  ]
  for (const [parts, reason, end] of cases) t.match((await ask(provider([bytes(response(parts, reason))]))).said.at(-1), { kind: 'end', reason: end }, reason)
})

t.test('other servers: input with the start of a call, thinking without a signature, usage at the end only', async (t) => {
  const start = (index: number, content_block: unknown): Event => ({ type: 'content_block_start', index, content_block })
  const stop = (index: number): Event => ({ type: 'content_block_stop', index })
  const events: Event[] = [
    { type: 'message_start', message: {} },
    start(0, { type: 'thinking', thinking: 'hm' }),
    stop(0),
    start(1, { type: 'text', text: 'whole' }),
    stop(1),
    start(2, { type: 'tool_use', id: 't', name: 'Do', input: { n: 1 } }),
    stop(2),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { input_tokens: 5, output_tokens: 6 } },
    { type: 'message_stop' },
  ]
  t.same(joined((await ask(provider([bytes(events)]))).said), [
    { kind: 'thinking', text: 'hm' },
    { kind: 'thinking_end', signature: '' },
    { kind: 'text', text: 'whole' },
    { kind: 'call', id: 't', name: 'Do', input: '{"n":1}' },
    { kind: 'usage', usage: { input: 5, output: 6, cacheRead: 0, cacheCreation: 0 } },
    { kind: 'end', reason: 'calls' },
  ])
})

t.test('a large input comes in time that is in proportion to it', async (t) => {
  const size = 2 * 1024 * 1024
  const [first, ...rest] = response([{ id: 't', name: 'Write', input: '' }])
  const delta = bytes([{ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: 'x'.repeat(32) } }])
  const at = rest.findIndex(({ type }) => type === 'content_block_stop')
  const pieces = [bytes([first as Event, ...rest.slice(0, at)]), Buffer.alloc((delta.length * size) / 32, delta), bytes(rest.slice(at))]
  const begin = performance.now()
  const { said } = await ask(
    provider(pieces.flatMap((piece) => Array.from({ length: Math.ceil(piece.length / 65_536) }, (_, n) => piece.subarray(n * 65_536, (n + 1) * 65_536)))),
  )
  const made = said.flatMap((event) => (event.kind === 'call' ? [event.input] : []))
  t.same(
    made.map(({ length }) => length),
    [size],
  )
  t.ok(performance.now() - begin < 30_000, `${performance.now() - begin} ms`)
})
