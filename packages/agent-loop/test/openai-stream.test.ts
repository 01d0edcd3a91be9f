import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { openai } from '../src/providers/openai.js'
import { ChatStream } from '../src/providers/openai-stream.js'
import { answering, data, type Given, given, read } from './support/provider-run.js'

const said = (delta: unknown, rest: object = {}) => ({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }], ...rest })
const calls = (...list: readonly unknown[]) => said({ tool_calls: list })
const ends = (reason: string, rest: object = {}) => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }], ...rest })
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } }
const COUNTED = { choices: [], usage: USAGE }
const DONE = '[DONE]'

const take = (...values: readonly unknown[]): Promise<Given> => given(openai, answering([data(...values)]))
const plain = ({ calls: made }: Given) => made.map(({ name, input, id }) => [`${name}${input}`, id].join(' ').trim())

t.test('30: odd chunks: no crash, text once, usage once', async (t) => {
  const usual = { text: 'Hi.', usage: [6, 5, 4, 0], end: 'end_turn', error: undefined }
  const cases: Record<string, readonly unknown[]> = {
    'usage in a last chunk without choices': [said({ content: 'Hi.' }), ends('stop'), COUNTED, DONE],
    'choices null, absent, and a chunk with nothing': [{ choices: null }, {}, said({ content: 'Hi.' }), ends('stop'), { usage: USAGE }, DONE],
    'delta and content null': [said(null), said({ role: 'assistant', content: null }), said({ content: 'Hi.' }), ends('stop', { usage: USAGE }), DONE],
    'usage in the last chunk with text': [{ choices: [{ delta: { content: 'Hi.' }, finish_reason: 'stop' }], usage: USAGE }],
    'usage in every chunk': [
      said({ content: 'H' }, { usage: { prompt_tokens: 10, completion_tokens: 1 } }),
      said({ content: 'i.' }, { usage: USAGE }),
      ends('stop', { usage: USAGE }),
    ],
    'usage null until it comes': [said({ content: 'Hi.' }, { usage: null }), ends('stop', { usage: null }), COUNTED],
    'usage in the choice': [{ choices: [{ delta: { content: 'Hi.' }, finish_reason: 'stop', usage: USAGE }] }, DONE],
    'reasons that are empty': [{ choices: [{ delta: { content: 'Hi.' }, finish_reason: '' }] }, ends('stop'), COUNTED],
    'a message in place of a delta': [{ choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }], usage: USAGE }],
    'the message once more at the end': [said({ content: 'Hi.' }), { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }], usage: USAGE }],
    'content in parts': [
      said({
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: '.' },
        ],
      }),
      ends('stop'),
      COUNTED,
    ],
    'a function_call of old': [said({ content: 'Hi.', function_call: { name: 'f', arguments: '{}' } }), ends('function_call'), COUNTED],
    'choices that are none': [
      { choices: [null] },
      { choices: {} },
      { choices: ['x'] },
      said({ content: 'Hi.', tool_calls: [null, {}, 3] }),
      ends('stop'),
      COUNTED,
    ],
  }
  for (const [name, values] of Object.entries(cases)) t.match(await take(...values), usual, name)
  t.match(await take(said({ content: 'Hi.' }), DONE), { text: 'Hi.', usage: [], end: 'end_turn', error: undefined }, 'no reason at all')
})

t.test('30: arguments in any guise are an object', async (t) => {
  const whole = (given: unknown) => take(calls({ index: 0, id: 'a', function: { name: 'Do', arguments: given } }), ends('tool_calls'), DONE)
  for (const given of [{ p: 1 }, '{"p":1}', '"{\\"p\\":1}"', '"\\"{\\\\\\"p\\\\\\":1}\\""', '{}{"p":1}', '{"p":1}{"p":1}']) {
    t.same(plain(await whole(given)), ['Do{"p":1} a'], JSON.stringify(given))
  }
  for (const given of ['', ' ', null, undefined, 'null', {}]) t.same(plain(await whole(given)), ['Do{} a'], JSON.stringify(given))
  for (const given of ['[]', '{"p":', 'p']) t.same(plain(await whole(given)), [`Do${given} a`], 'what is none is not made one')
})

t.test('30: deltas of calls without index, id or order', async (t) => {
  const piece = (rest: object, name?: string, args?: unknown) => ({
    ...rest,
    type: 'function',
    function: { ...(name === undefined ? {} : { name }), arguments: args },
  })
  const cases: Record<string, readonly [deltas: readonly (readonly unknown[])[], expected: readonly string[]]> = {
    'as they should be': [
      [
        [piece({ index: 0, id: 'a' }, 'A', '')],
        [piece({ index: 1, id: 'b' }, 'B', '{"x"')],
        [piece({ index: 0 }, undefined, '{"y":1}')],
        [piece({ index: 1 }, undefined, ':2}')],
      ],
      ['A{"y":1} a', 'B{"x":2} b'],
    ],
    'no index': [
      [[piece({ id: 'a' }, 'A', '{"y"')], [piece({}, undefined, ':1}')], [piece({ id: 'b' }, 'B', '{}')]],
      ['A{"y":1} a', 'B{} b'],
    ],
    'no index and no id': [
      [[piece({}, 'A', '{"y":1}')], [piece({}, 'A', '{"y":2}')]],
      ['A{"y":1}', 'A{"y":2}'],
    ],
    'no index, several in a chunk': [
      [[piece({}, 'A', '{}'), piece({}, 'A', '{}')], [piece({}, 'B', '')]],
      ['A{}', 'A{}', 'B{}'],
    ],
    'index 0 for all': [
      [[piece({ index: 0, id: 'a' }, 'A', '{}')], [piece({ index: 0, id: 'b' }, 'B', '{}')]],
      ['A{} a', 'B{} b'],
    ],
    'index 0 for all, and no ids': [
      [[piece({ index: 0 }, 'A', '{}')], [piece({ index: 0 }, 'A', '{}')]],
      ['A{}', 'A{}'],
    ],
    'id and name in every delta': [[[piece({ index: 0, id: 'a' }, 'A', '{"y"')], [piece({ index: 0, id: 'a' }, 'A', ':1}')]], ['A{"y":1} a']],
    'the id alone in every delta': [
      [[piece({ id: 'a' }, 'A', '{"y"')], [piece({ id: 'b' }, 'B', '{"z"')], [piece({ id: 'a' }, '', ':1}')], [piece({ id: 'b' }, '', ':1}')]],
      ['A{"y":1} a', 'B{"z":1} b'],
    ],
    'another id in every delta': [[[piece({ index: 0, id: 'a' }, 'A', '{"y"')], [piece({ index: 0, id: 'zz' }, undefined, ':1}')]], ['A{"y":1} a']],
    'a name in pieces, and one that grows': [
      [[piece({ index: 0, id: 'a' }, 'Ba')], [piece({ index: 0 }, 'sh', '{}')], [piece({ index: 1, id: 'b' }, 'Re')], [piece({ index: 1 }, 'Read', '{}')]],
      ['Bash{} a', 'Read{} b'],
    ],
    'the id late': [[[piece({ index: 0 }, 'A', '')], [piece({ index: 0, id: 'a' }, undefined, '{}')]], ['A{} a']],
  }
  for (const [name, [deltas, expected]] of Object.entries(cases)) {
    const result = await take(...deltas.map((list) => calls(...list)), ends('stop'), DONE)
    t.same(plain(result), expected, name)
    t.equal(result.end, 'calls', `${name}: called, whatever the reason is`)
  }
})

t.test('reasons', async (t) => {
  const end = async (...values: readonly unknown[]) => (await take(said({ content: 'x' }), ...values, DONE)).end
  t.equal(await end(ends('length')), 'max_tokens')
  t.equal(await end(calls({ index: 0, id: 'a', function: { name: 'A', arguments: '{"cu' } }), ends('length')), 'max_tokens')
  t.equal(await end(ends('content_filter')), 'refusal')
  t.equal(await end(ends('tool_calls')), 'end_turn', 'no call, nothing to wait for')
  t.equal(await end(ends('whatever')), 'end_turn')
  t.match(await take(said({ refusal: 'I ' }), said({ refusal: 'won’t.' }), ends('stop'), DONE), { text: 'I won’t.', end: 'refusal' })
})

t.test('what a model thinks, by whichever name', async (t) => {
  const answer = [said({ content: 'So.' }), ends('stop'), DONE]
  t.match(await take(said({ reasoning_content: 'hm' }), ...answer), { thinking: 'hm', text: 'So.', opaque: ['reasoning_content'] })
  t.match(await take(said({ reasoning: 'h' }), said({ reasoning: 'm', content: '' }), ...answer), { thinking: 'hm', text: 'So.', opaque: ['reasoning'] })
  t.match(await take(said({ reasoning: 'hm', reasoning_content: 'hm' }), ...answer), { thinking: 'hm', opaque: ['reasoning_content'] }, 'once')
  t.match(await take(said({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }), ...answer), { thinking: 'hm', text: 'So.' })
  const details = [
    said({ reasoning: 'h', reasoning_details: [{ type: 'reasoning.text', text: 'h', index: 0, format: 'f' }] }),
    said({ reasoning: 'm', reasoning_details: [{ type: 'reasoning.text', text: 'm', index: 0 }] }),
    said({
      reasoning_details: [
        { type: 'reasoning.text', signature: 'sig', index: 0, text: null },
        { type: 'reasoning.encrypted', data: 'e', index: 1 },
      ],
    }),
  ]
  const kept = JSON.stringify([
    { type: 'reasoning.text', text: 'hm', index: 0, format: 'f', signature: 'sig' },
    { type: 'reasoning.encrypted', data: 'e', index: 1 },
  ])
  t.match(await take(...details, ...answer), { thinking: 'hm', text: 'So.', opaque: [kept] })
})

t.test('<think> at the beginning of the text, split anywhere', async (t) => {
  for (const [whole, expected] of [
    ['<think>a <b> </i</think>\n\nSo.</think>', { thinking: 'a <b> </i', text: 'So.</think>' }],
    ['\n<think></think>So.', { thinking: '', text: 'So.' }],
    ['<think>never closed </thin', { thinking: 'never closed </thin', text: '' }],
    ['<thin is text', { thinking: '', text: '<thin is text' }],
    ['Use <think>x</think>', { thinking: '', text: 'Use <think>x</think>' }],
  ] as const) {
    for (let at = 0; at <= whole.length; at++) {
      const { thinking, text } = await take(said({ content: whole.slice(0, at) }), said({ content: whole.slice(at) }), ends('stop'), DONE)
      t.same({ thinking, text }, expected, `${whole} cut at ${at}`)
    }
  }
})

t.test('28: a stream that ends: complete with a reason, cut without', async (t) => {
  t.match(await take(said({ content: 'Hi.' }), ends('stop')), { text: 'Hi.', end: 'end_turn', error: undefined }, '28e: no [DONE]')
  t.match(await take(said({ content: 'Hi' })), { text: 'Hi', end: undefined, error: 'cut: the answer of the model server ended in the middle' }, '28a')
  t.match(await take(calls({ index: 0, id: 'a', function: { name: 'A', arguments: '{"x' } })), { calls: [], end: undefined, error: /^cut: / }, '28b')
  t.match(await take(), { end: undefined, error: 'cut: the answer of the model server was empty' }, '28c')
  t.match(await take(DONE), { end: undefined, error: /^cut: / })
})

t.test('28: cut at every byte, split at every byte', async (t) => {
  const stream = Buffer.from(
    data(
      said({ reasoning_content: 'hm ü' }),
      said({ content: 'I\u2028do \u{1F600}.' }),
      calls({ index: 0, id: 'a', function: { name: 'A', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"x":"é"}' } }),
      ends('tool_calls'),
      COUNTED,
      DONE,
    ),
  )
  const whole = await read(new ChatStream(), [stream])
  t.match(whole, {
    thinking: 'hm ü',
    text: 'I\u2028do \u{1F600}.',
    calls: [{ id: 'a', name: 'A', input: '{"x":"é"}' }],
    usage: [6, 5, 4, 0],
    end: 'calls',
    error: undefined,
  })
  const ending = '"finish_reason":"tool_calls"}]}'
  const reason = stream.indexOf(ending) + ending.length
  for (const [head, tail] of everyCut(stream)) {
    if (JSON.stringify(await read(new ChatStream(), [head, tail])) !== JSON.stringify(whole)) t.fail(`split at ${head.length}`)
    const cut = await read(new ChatStream(), [head])
    const complete = head.length >= reason
    if ((cut.end === 'calls') !== complete || (cut.error === undefined) !== complete) t.fail(`cut at ${head.length}: ${JSON.stringify(cut)}`)
    if (!whole.text.startsWith(cut.text)) t.fail(`cut at ${head.length}: another text`)
    if (!complete && cut.calls.length > 0) t.fail(`cut at ${head.length}: a call`)
  }
})

t.test('29: errors inside of the stream', async (t) => {
  const failed = async (value: unknown, text = '') => (await take(...(text === '' ? [] : [said({ content: text })]), value)).error
  t.equal(await failed({ error: { message: 'x' } }), 'unreachable: the model server says: x')
  t.match(await take(said({ content: 'H' }), { error: { message: 'x', code: 'rate_limit_exceeded' } }, said({ content: 'more' })), {
    text: 'H',
    end: undefined,
    error: 'busy: the model server says: x (rate_limit_exceeded)',
  })
  t.match(await failed({ error: { message: 'Rate limited', code: 429 } }), /^busy: /)
  t.match(
    await failed({ error: { message: 'x', code: 502, metadata: { raw: 'upstream died' } }, choices: [{ delta: {}, finish_reason: 'error' }] }),
    'unreachable: the model server says: upstream died',
  )
  t.match(await failed({ error: 'just words' }), /^unreachable: .*just words/)
  t.match(await failed({ object: 'error', message: 'maximum context length is 4096 tokens', type: 'BadRequestError', code: 400 }), /^too_long: /)
  t.match(await failed({ error: { message: 'x', type: 'insufficient_quota' } }), /^key: /)
  t.match(await failed({ choices: [{ delta: {}, finish_reason: 'error' }] }), /^unreachable: /)
  t.match(await failed('not JSON at all'), /^unreachable: .*"not JSON at all"/)
  t.match(await given(openai, answering([`event: error\n${data({ message: 'x' })}`])), { end: undefined, error: /^unreachable: .*x/ })
})

t.test('34: the end ends it, though the connection stays open', async (t) => {
  const open = (...values: readonly unknown[]) => given(openai, answering([data(said({ content: 'Hi.' }), ...values)], false))
  t.match(await open(ends('stop'), DONE), { end: 'end_turn', error: undefined })
  t.match(await open(ends('stop'), COUNTED), { end: 'end_turn', usage: [6, 5, 4, 0] })
  t.match(await open(ends('stop')), { end: 'end_turn', usage: [] }, 'usage is not waited for for ever')
  t.match(await open({ error: { message: 'x' } }), { error: /^unreachable/ })
})

t.test('30: big arguments in small deltas take time in proportion', async (t) => {
  const delta = data(calls({ index: 0, function: { arguments: 'x'.repeat(100) } }))
  const pieces = Array.from({ length: 1000 }, () => delta.repeat(100))
  const first = data(calls({ index: 0, id: 'a', function: { name: 'A', arguments: '{"x":"' } }))
  const start = performance.now()
  const { calls: made } = await given(openai, answering([first, ...pieces, data(calls({ index: 0, function: { arguments: '"}' } }), ends('tool_calls'), DONE)]))
  t.equal(made[0]?.input.length, 10_000_008)
  t.ok(performance.now() - start < 20_000, `${performance.now() - start} ms`)
})

t.test('usage in other words', async (t) => {
  const usage = async (value: object) => (await take(said({ content: 'x' }), ends('stop', { usage: value }))).usage
  t.same(await usage({ prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 }), [2, 5, 8, 0])
  t.same(await usage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 35 }), [10, 25, 0, 0])
  t.same(await usage({ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 4 } }), [3, 5, 3, 4])
  t.same(await usage({ prompt_tokens: null, completion_tokens: -5, total_tokens: 'x' }), [])
})
