import { readFileSync } from 'node:fs'
import { fixture, frames, framesOf } from '@agentpipe/testing'
import fc from 'fast-check'
import t from 'tap'
import { buildToolCall, fromJson, toJson, toJsonLine } from '../src/index.js'
import { anyFields } from './support/arbitrary.js'
import { frameOf } from './support/frames.js'

t.test('frame to line to frame: the same bytes, for any frame', async () => {
  fc.assert(
    fc.property(anyFields, (fields) => {
      const frame = frameOf(fields)
      const line = toJsonLine(frame)
      return !line.includes('\n') && fromJson(JSON.parse(line)).equals(frame.bytes)
    }),
    { numRuns: 3000 },
  )
})

t.test('the line can be sent as UTF-8: nothing in it is lost', async () => {
  fc.assert(
    fc.property(anyFields, (fields) => {
      const frame = frameOf(fields)
      return fromJson(JSON.parse(Buffer.from(toJsonLine(frame)).toString())).equals(frame.bytes)
    }),
    { numRuns: 1000 },
  )
})

for (const names of [
  ['seed-writer', 'all-types.resp'],
  ['seed-writer', 'deltas.resp'],
  ['seed-writer', 'large-result.resp'],
  ['redis-client', 'commands.resp'],
]) {
  t.test(`${names.join('/')}: the same bytes, and all of its text is there`, async (t) => {
    for (const frame of framesOf(readFileSync(fixture(...names)))) {
      const line = toJsonLine(frame)
      t.ok(fromJson(JSON.parse(line)).equals(frame.bytes))
      t.equal(JSON.parse(line).type, frame.type.toLowerCase())
    }
  })
}

t.test('what each part of a frame becomes', async (t) => {
  const json = (...fields: Parameters<typeof frameOf>[0]) => toJson(frameOf(fields))
  t.same(json('TEXT', 'hi'), { type: 'text', text: 'hi' })
  t.same(json('TOOL_RESULT', 'c1', 'Bash', 'x', 'status', 'error', 'exit_code', '3'), {
    type: 'tool_result',
    tool_use_id: 'c1',
    name: 'Bash',
    content: 'x',
    status: 'error',
    exit_code: 3,
  })
  t.same(json('USAGE', '1', '02', 'many', '4', 'kind', 'agent').output_tokens, '02', 'a number that is not written as we would is a string')
  t.same(json('TOOL_RESULT', 'c1', 'X', '', 'own', 'x', 'status', 'ok'), {
    type: 'tool_result',
    tool_use_id: 'c1',
    name: 'X',
    content: '',
    status: 'ok',
    extra: ['own', 'x'],
    order: [null, 'status'],
  })
  t.same(json('TEXT', Buffer.from([0xff])), { type: 'text', text_base64: '/w==' })
  t.same(json('MY_OWN', 'x', Buffer.from([0xff])), { type: 'my_own', extra: ['x', { base64: '/w==' }] })
  t.same(json('TOOL_CALL', 'Bash'), { type: 'tool_call', extra: ['Bash'] }, 'too few fields')
  t.same(json('HISTORY', 'TEXT', 'hi'), { type: 'history', event: 'TEXT', extra: ['hi'] })
  t.same(json('STOP', 'because'), { type: 'stop', reason: 'because' }, 'values are open')
})

t.test('the input of a call is an object where that gives the same bytes', async (t) => {
  const call = (input: string) => toJson(frameOf(['TOOL_CALL', 'X', 'c1', input]))
  t.same(call('{"a":[1,{"b":null}]}').input, { a: [1, { b: null }] })
  for (const input of ['{ "a": 1 }', '{"a":1,"a":2}', '{"a":1.0}', '{"a":"\\u0061"}', '{', '', '{"2":0,"1":0}']) {
    t.match(call(input), { input_text: input, input: undefined })
  }
  t.equal(JSON.stringify(call('{"__proto__":1}').input), '{"__proto__":1}')
})

t.test('members of the input that stand again are not written', async (t) => {
  const bytes = buildToolCall('Bash', 'c1', '{"command":"ls","depth":2}')
  const [frame] = framesOf(bytes)
  t.same(frame?.count, 8)
  t.equal(toJsonLine(frame as typeof frame & object), '{"type":"tool_call","name":"Bash","tool_use_id":"c1","input":{"command":"ls","depth":2}}')
  t.same(toJson(frameOf(['TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}'])).extra, [], 'unless they were left out')
  t.same(toJson(frameOf(['TOOL_CALL', 'Bash', 'c1', '{"a":"b"}', 'a', 'c'])).extra, ['a', 'c'], 'or differ')
})

t.test('nesting of any depth comes back, and takes no stack', async (t) => {
  for (const depth of [100, 4000, 4100, 4200, 5000, 100_000]) {
    for (const input of [
      `${'['.repeat(depth)}${']'.repeat(depth)}`,
      `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    ]) {
      for (const bytes of [frames(['TOOL_CALL', 'X', 'c1', input]), buildToolCall('X', 'c1', input)]) {
        const [frame] = framesOf(bytes)
        const line = toJsonLine(frame as typeof frame & object)
        if (!fromJson(JSON.parse(line)).equals(bytes)) t.fail(`depth ${depth}`)
      }
    }
  }
  t.pass('all of them')
})

t.test('a frame whose text would be too long for a string', async (t) => {
  for (const fields of [[Buffer.alloc(60 * 1024 * 1024), Buffer.alloc(30 * 1024 * 1024)], Array(1000).fill(Buffer.alloc(16 * 1024))]) {
    const bytes = frames(['MY_OWN', ...fields])
    const [frame] = framesOf(bytes)
    const line = toJsonLine(frame as typeof frame & object)
    t.ok(fromJson(JSON.parse(line)).equals(bytes))
  }
})

t.test('members that json never writes are ignored', async (t) => {
  t.same(fromJson({ v: 1, seq: 12, ts: '2026-12-01T09:30:00.123Z', type: 'text', text: 'hi', more: [1] }), frames(['TEXT', 'hi']))
})

t.test('what is no such object', async (t) => {
  for (const wrong of [null, 1, 'x', [], {}, { type: 1 }, { type: null }]) t.throws(() => fromJson(wrong), TypeError)
  for (const extra of [[1], [null], [{ base64: 1 }], [[]]]) t.throws(() => fromJson({ type: 'text', text: '', extra }), TypeError)
  for (const type of ['', 'a b', '1x', 'é']) t.throws(() => fromJson({ type }), RangeError)
})
