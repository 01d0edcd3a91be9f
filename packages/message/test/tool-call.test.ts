import { DEFAULT_LIMITS } from '@agentpipe/frame'
import { fieldsOf, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { buildToolCall, parseMessage, parseObject, repeatedMembers } from '../src/index.js'

t.test('each top-level member of the input stands again: strings as they are, others as JSON', async (t) => {
  const input = '{"command":"ls -la\\n","timeout":5,"env":{"A":"b"},"list":[1,2],"dry":false,"none":null,"":"empty"}'
  t.same(fieldsOf(buildToolCall('Bash', 'c1', input)), [
    [
      ...['TOOL_CALL', 'Bash', 'c1', input, 'command', 'ls -la\n', 'timeout', '5', 'env', '{"A":"b"}'],
      ...['list', '[1,2]', 'dry', 'false', 'none', 'null', '', 'empty'],
    ],
  ])
})

t.test('keys with @ are ours: one of the input is not repeated', async (t) => {
  const bytes = buildToolCall('X', 'c1', '{"@opaque":"theirs","a":"b"}', 'ours')
  t.same(fieldsOf(bytes), [['TOOL_CALL', 'X', 'c1', '{"@opaque":"theirs","a":"b"}', '@opaque', 'ours', 'a', 'b']])
  const [frame] = framesOf(bytes)
  t.same(frame && parseMessage(frame)?.attributes, { '@opaque': 'ours' })
})

t.test('__proto__ and its like are keys like others', async (t) => {
  t.same(repeatedMembers('{"__proto__":"x","constructor":{"a":1}}'), ['__proto__', 'x', 'constructor', '{"a":1}'])
  t.equal(({} as { x?: unknown }).x, undefined)
})

t.test('an input that is no JSON object has no members', async (t) => {
  for (const input of ['', '[]', 'null', '1', '"x"', '{', '{"a":}', 'ls']) {
    t.same(repeatedMembers(input), [])
    t.equal(parseObject(input), undefined)
    t.same(fieldsOf(buildToolCall('X', 'c1', input)), [['TOOL_CALL', 'X', 'c1', input]])
  }
})

t.test('members are left out where the frame would have too many fields', async (t) => {
  const input = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index])))
  const most = (DEFAULT_LIMITS.fields - 4) / 2
  t.equal(fieldsOf(buildToolCall('X', 'c1', input(most)))[0]?.length, DEFAULT_LIMITS.fields)
  t.equal(fieldsOf(buildToolCall('X', 'c1', input(most + 1)))[0]?.length, 4)
})

t.test('and where it would be too large; the input itself is always there', async (t) => {
  const count = (input: string) => framesOf(buildToolCall('Write', 'c1', input))[0]?.count
  t.equal(count(`{"content":"${'x'.repeat(12 * 1024 * 1024)}"}`), 4)
  t.equal(count(`{"content":"${'é漢'.repeat(100_000)}"}`), 6)
  t.equal(count(`{"numbers":[${'9e20,'.repeat(100_000)}1]}`), 6, 'numbers grow when they are written down')
  t.equal(count(`{"halves":["${'\ud800'.repeat(11_000_000)}"]}`), 6, 'halves of surrogate pairs grow most')
})
