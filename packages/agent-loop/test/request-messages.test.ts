import fc from 'fast-check'
import t from 'tap'
import type { Item } from '../src/conversation.js'
import { type RequestMessage, requestMessages } from '../src/request-messages.js'
import { anyItem } from './support/any-item.js'
import { faultsOf } from './support/valid-messages.js'

const user = (text: string): Item => ({ kind: 'user', text })
const says = (text: string): Item => ({ kind: 'text', text })
const notice = (text: string): Item => ({ kind: 'notice', text })
const call = (id: string, input = '{}', name = 'Do'): Item => ({ kind: 'call', id, name, input })
const result = (id: string, output = 'done', status = 'ok'): Item => ({ kind: 'result', id, name: 'Do', output, status })
const thinks = (text: string, whole = true): Item => ({ kind: 'thinking', text, whole, ...(whole ? { signature: 'sig' } : {}) })
const USAGE: Item = { kind: 'response', model: 'm' }
const STOP: Item = { kind: 'stop', reason: 'end_turn' }

function build(items: readonly Item[], model = 'm'): { messages: RequestMessage[]; mended: string[] } {
  const mended: string[] = []
  const messages = requestMessages(items, model, (what) => mended.push(what))
  return { messages, mended }
}

/** Messages on one line each, which tests can be read by. */
function lines(items: readonly Item[], model = 'm'): string[] {
  const { messages } = build(items, model)
  t.same(faultsOf(messages), [])
  return messages.map(({ role, blocks }) => `${role}: ${blocks.map((block) => line(block as Parameters<typeof line>[0])).join(' | ')}`)
}

function line(block: { kind: string; text?: string; id?: string; input?: string; output?: string; failed?: boolean }): string {
  if (block.kind === 'text') return block.text as string
  if (block.kind === 'thinking') return `<${block.text}>`
  if (block.kind === 'call') return `${block.id}(${block.input})`
  return block.kind === 'result' ? `${block.id}${block.failed ? '!' : '='}${block.output}` : block.kind
}

t.test('a conversation without faults is given as it was, and nothing is said', (t) => {
  const items = [user('hi'), thinks('hm'), says('I do.'), call('a'), call('b'), USAGE, result('b'), result('a'), says('Done.'), USAGE, STOP, user('more')]
  t.same(lines(items), ['user: hi', 'assistant: <hm> | I do. | a({}) | b({})', 'user: a=done | b=done', 'assistant: Done.', 'user: more'])
  t.same(build(items).mended, [])
  t.end()
})

t.test('27: each call has one result, in the very next message, before any text', (t) => {
  const cases: [items: Item[], expected: string, mended: string[]][] = [
    [[call('a'), USAGE, STOP], 'a!', ['a call had no result']],
    [[call('a'), call('b'), USAGE, result('b')], 'a!The call was interrupted: it has no result. | b=done', ['a call had no result']],
    [[call('a'), USAGE, result('a', 'The call was interrupted.', 'cancelled'), STOP], 'a!The call was interrupted. | next', []],
    [[call('a'), USAGE, notice('note'), result('a')], 'a=done | note | next', []],
    [[call('a'), USAGE, result('a'), result('a', 'again')], 'a=done | next', ['a call had more than one result']],
    [[call('a'), USAGE, result('a'), result('z')], 'a=done | next', ['a result belonged to no call']],
    [[call('a'), USAGE, user('too early'), result('a')], 'a=done | too early | next', ['the result of a call came late']],
  ]
  for (const [items, expected, mended] of cases) {
    const all = [user('go'), ...items, user('next')]
    t.match(lines(all)[2], `user: ${expected}`)
    t.same(build(all).mended, mended)
  }
  t.end()
})

t.test('27: a result that comes after the next response still goes to its call', (t) => {
  const items = [user('go'), call('a'), USAGE, says('What?'), USAGE, user('next'), says('Hm.'), USAGE, result('a'), user('last')]
  t.same(lines(items), ['user: go', 'assistant: a({})', 'user: a=done', 'assistant: What?', 'user: next', 'assistant: Hm.', 'user: last'])
  t.same(build(items).mended, ['the result of a call came late'])
  t.end()
})

t.test('results that come in the middle of a response do not cut it; without USAGE they do', (t) => {
  t.same(lines([user('go'), says('x'), call('a'), result('a'), call('b'), USAGE, result('b')]), [
    'user: go',
    'assistant: x | a({}) | b({})',
    'user: a=done | b=done',
  ])
  t.same(lines([user('go'), call('a'), result('a'), says('x'), STOP, user('on')]), ['user: go', 'assistant: a({})', 'user: a=done', 'assistant: x', 'user: on'])
  t.end()
})

t.test('31: nothing blank, and no message without blocks', (t) => {
  t.same(lines([user('  \n')]), ['user: (an empty message)'])
  t.same(lines([user('go'), call('a'), USAGE, result('a', ' \n')]), ['user: go', 'assistant: a({})', 'user: a=(no output)'])
  t.same(lines([user('go'), call('a'), USAGE, result('a', '', 'error')]), ['user: go', 'assistant: a({})', 'user: a!(no output)'])
  t.same(lines([user('go'), thinks('only'), USAGE, STOP, user('on')]), ['user: go | on'])
  t.same(lines([user('go'), says('\n'), call('a'), USAGE, result('a')]), ['user: go', 'assistant: a({})', 'user: a=done'])
  t.same(lines([user('go'), says(' '), USAGE, STOP, user('on')]), ['user: go | on'])
  t.same(lines([user('go'), USAGE, STOP, user('on')]), ['user: go | on'])
  t.same(lines([notice(' '), user('on')]), ['user: on'])
  t.same(lines([]), ['user: Go on.'])
  t.same(lines([user('go'), says('Well.'), USAGE]), ['user: go', 'assistant: Well.', 'user: Go on.'])
  t.end()
})

t.test('32: thinking is byte-identical or left out', (t) => {
  const odd = 'a\u2028b \u{1F600} \uFFFD\r\n '
  t.same(lines([user('go'), thinks(odd), says('x'), USAGE, user('on')])[1], `assistant: <${odd}> | x`)
  t.same(lines([user('go'), thinks(''), says('x'), USAGE, user('on')])[1], 'assistant: <> | x')
  t.same(lines([user('go'), thinks('cut', false), says('x'), USAGE, user('on')])[1], 'assistant: x')
  t.same(lines([user('go'), thinks('hm'), says('x'), USAGE, user('on')], 'other')[1], 'assistant: x')
  t.same(lines([user('go'), thinks('hm'), says('x'), user('on')])[1], 'assistant: x', 'without USAGE nobody knows whose it is')
  t.same(lines([user('go'), thinks('\0'), says('x'), USAGE, user('on')])[1], 'assistant: x')
  t.end()
})

t.test('what only its own server can read stays with its model', (t) => {
  const items: Item[] = [user('go'), { kind: 'call', id: 'a', name: 'Do', input: '{}', opaque: 'o' }, USAGE, result('a')]
  t.match(build(items).messages[1], { blocks: [{ opaque: 'o' }] })
  t.notHas(build(items, 'other').messages[1]?.blocks[0], { opaque: 'o' })
  t.end()
})

t.test('inputs, ids and names are what servers take', (t) => {
  const sent = (given: Item) => build([user('go'), given, USAGE, result((given as { id: string }).id)])
  for (const input of ['', '[]', 'null', '"x"', '{"a":', '12']) t.same(sent(call('a', input)).mended, ['the input of a call was no JSON object'], input)
  t.match(sent(call('a', '{"a":"\\ud800","b\\u0000":["\\udc00x"]}')).messages[1]?.blocks, [{ input: '{"a":"\uFFFD","b\uFFFD":["\uFFFDx"]}' }])
  t.match(sent(call('a', '{ "a" : 1.0 }')).messages[1]?.blocks, [{ input: '{ "a" : 1.0 }' }])
  t.match(sent(call('a', `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`)).messages[1]?.blocks, [{ input: '{}' }])
  t.match(sent(call('a b/ü')).messages[1]?.blocks, [{ id: 'a_b__' }])
  t.match(sent(call('a', '{}', 'a name')).messages.slice(1), [{ blocks: [{ name: 'a_name' }] }, { blocks: [{ name: 'a_name' }] }])
  t.same(sent(call('a', '{}', 'x'.repeat(300))).mended, [], 'a model may call what is not there')
  t.match(sent(call('a', '{}', '')).messages[1]?.blocks, [{ name: 'tool' }])
  t.end()
})

t.test('an id that stands twice is renamed, and its result with it', (t) => {
  const long = 'x'.repeat(64)
  const items = [
    user('go'),
    call('a', '{"n":1}'),
    call('a', '{"n":2}'),
    call(long),
    call(`${long}y`),
    USAGE,
    result('a', '1'),
    result('a', '2'),
    result(long),
    result(`${long}y`),
  ]
  t.same(lines(items)[2], `user: a=1 | a_2=2 | ${long}=done | ${'x'.repeat(62)}_2=done`)
  t.same(new Set(build(items).mended), new Set(['two calls had the same id', 'the id of a call had characters or a length that servers refuse']))
  t.end()
})

t.test('images have the type of their data, or are told of in words', (t) => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=='
  const shown = (data: string, type: string) => build([{ kind: 'user', text: '', image: { data, type } }]).messages[0]?.blocks
  t.same(shown(png, 'image/jpeg'), [{ kind: 'image', image: { data: png, type: 'image/png' } }])
  for (const data of ['', 'Qk0=', `${png}=`, `${png.slice(0, -4)}@@@@`]) t.match(shown(data, 'image/bmp'), [{ kind: 'text', text: /image/ }])
  const seen: Item[] = [
    user('go'),
    call('a'),
    USAGE,
    { kind: 'result', id: 'a', name: 'Do', output: '', status: 'ok', image: { data: 'Qk0=', type: 'image/bmp' } },
  ]
  t.match(lines(seen)[2], /a=\(an image/)
  t.end()
})

t.test('a beginning that is missing is stood in for', (t) => {
  t.match(lines([says('x'), USAGE, user('on')])[0], /user: \(The beginning/)
  t.match(lines([{ kind: 'summary', text: 'sum' }, user('on')]), [/^user: The conversation up to here was longer[\s\S]*sum \| on$/])
  t.end()
})

t.test('any items whatsoever make a valid request', (t) => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 40 }), (items) => {
      const before = JSON.stringify(items)
      const { messages } = build(items)
      const faults = faultsOf(messages)
      if (faults.length > 0) throw new Error(faults.join('\n'))
      if (JSON.stringify(items) !== before) throw new Error('the items were changed')
    }),
    { numRuns: 3000 },
  )
  t.end()
})

t.test('time in proportion to the length: many calls, one id, and large results', (t) => {
  const many = Array.from({ length: 30_000 }, (_, n) => [call(`c${n % 3}`), USAGE, result(`c${n % 3}`, 'x'.repeat(1500)), notice('n')]).flat()
  const start = performance.now()
  t.equal(build([user('go'), ...many]).messages.length, 60_001)
  t.ok(performance.now() - start < 10_000, `${performance.now() - start} ms`)
  t.end()
})
