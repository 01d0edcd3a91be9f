import { readFileSync } from 'node:fs'
import { fixture, frames } from '@agentpipe/testing'
import t from 'tap'
import { turnsOf } from '../src/providers/capture.js'

const USAGE = ['USAGE', '1', '1', '0', '0']
const RESULT = ['TOOL_RESULT', 'c1', 'Do', 'x']
const CALL = ['TOOL_CALL', 'Do', 'c1', '{}']
const STOP = ['STOP', 'end_turn']
const text = (piece: string) => ['TEXT', piece]

/** The responses of each turn, as their frames' last fields. */
function cut(...list: string[][]): string[][][] {
  return turnsOf(frames(...list)).map((turn) => turn.map((response) => Array.from(response.frames(), (frame) => frame.text(1) as string)))
}

t.test('responses end at USAGE, whatever results stand before it', (t) => {
  t.same(cut(text('a'), CALL, RESULT, USAGE, text('b'), USAGE, STOP), [[['a', 'Do'], ['b']]])
  t.same(cut(text('a'), CALL, RESULT, CALL, RESULT, USAGE, text('b'), USAGE, STOP), [[['a', 'Do', 'Do'], ['b']]])
  t.end()
})

t.test('without USAGE they end at the results', (t) => {
  t.same(cut(text('a'), CALL, RESULT, text('b'), STOP), [[['a', 'Do'], ['b']]])
  t.same(cut(text('a'), CALL, CALL, RESULT, RESULT, text('b'), CALL, RESULT, text('c'), STOP), [[['a', 'Do', 'Do'], ['b', 'Do'], ['c']]])
  t.end()
})

t.test('where the last USAGE has been, the results count again', (t) => {
  t.same(cut(text('a'), CALL, RESULT, USAGE, CALL, RESULT, text('b'), STOP), [[['a', 'Do'], ['Do'], ['b']]])
  t.end()
})

t.test('RETRY voids what its response has said', (t) => {
  t.same(cut(text('wrong'), ['RETRY'], text('right'), USAGE, STOP), [[['right']]])
  t.same(cut(CALL, RESULT, USAGE, text('wrong'), ['RETRY'], STOP), [[['Do'], []]])
  t.end()
})

t.test('turns end at STOP; a last one without it counts', (t) => {
  t.same(cut(text('a'), STOP, text('b'), USAGE), [[['a']], [['b']]])
  t.same(cut(['HELLO', '1', 's'], ['USER_MESSAGE', 'x'], text('a'), USAGE, STOP, STOP), [[['a']], [[]]])
  t.same(cut(), [])
  t.end()
})

t.test('how a turn ended stands on its last response', (t) => {
  const last = (...list: string[][]) => turnsOf(frames(...list))[0]?.at(-1)
  t.match(last(text('a'), USAGE, ['STOP', 'max_tokens']), { stop: 'max_tokens' })
  t.match(last(CALL, USAGE, RESULT, ['ERROR', 'no server'], ['STOP', 'error']), { calls: false, stop: 'error', error: 'no server' })
  t.match(last(CALL, USAGE, ['STOP', 'interrupted']), { calls: true, stop: 'interrupted' })
  t.end()
})

t.test('usage of compactions and sub-agents cuts nothing', (t) => {
  t.same(cut(text('a'), [...USAGE, 'kind', 'compact'], text('b'), [...USAGE, 'kind', 'sub_agent'], CALL, [...USAGE, 'kind', 'agent'], text('c'), STOP), [
    [['a', 'b', 'Do'], ['c']],
  ])
  t.end()
})

t.test('RETRY in front of USAGE voids what was said since the last one, results or not', (t) => {
  t.same(cut(text('a'), USAGE, text('wrong'), CALL, RESULT, ['RETRY'], text('right'), USAGE, STOP), [[['a'], ['right']]])
  t.same(cut(['RETRY'], text('a'), ['RETRY'], ['RETRY'], text('b'), STOP), [[['b']]])
  t.end()
})

t.test('results and other events where no response stands', (t) => {
  t.same(cut(RESULT, RESULT, ['NEW_TYPE'], text('a'), RESULT, STOP), [[['a']]])
  t.same(cut(['SUB_AGENT_RESULT', 's1', 'ok', 'x'], text('a'), ['SUB_AGENT_RESULT', 's1', 'ok', 'x'], text('b'), STOP), [[['a', 'b']]])
  t.end()
})

t.test('a turn in which nothing was said is a turn: the next input takes the next', (t) => {
  for (const reason of ['interrupted', 'max_tokens', 'error', 'end_turn', 'new_reason']) {
    t.same(cut(['USER_MESSAGE', 'x'], ['STOP', reason], text('a'), STOP), [[[]], [['a']]], reason)
  }
  t.end()
})

t.test('a response in the middle of a turn that calls nothing keeps its place', (t) => {
  t.same(cut(USAGE, text('a'), USAGE, STOP), [[[], ['a']]])
  t.end()
})

t.test('the frames of the seed’s own shell functions', (t) => {
  const turns = (name: string) =>
    turnsOf(readFileSync(fixture('seed-writer', `${name}.resp`))).map((turn) => turn.map((response) => [...response.frames()].map(({ type }) => type)))
  // The last two pieces of text stand in front of a RETRY.
  t.same(turns('all-types'), [[['THINKING', 'TEXT', 'TEXT', 'TEXT', 'TOOL_CALL'], ['TOOL_CALL'], []]])
  t.ok(
    turns('deltas')
      .flat(2)
      .every((type) => type === 'TEXT'),
  )
  t.ok(turns('large-result').length === 1)
  t.end()
})

t.test('a frame of a known type with too few fields is malformed, with its place', (t) => {
  const good = frames(text('a'))
  for (const bad of [['TEXT'], ['USAGE', '1'], ['STOP'], ['TOOL_CALL', 'Do'], ['TOOL_RESULT']]) {
    t.throws(() => turnsOf(Buffer.concat([good, frames(bad)])), { name: 'FrameError', offset: good.length }, String(bad))
  }
  t.throws(() => turnsOf(good.subarray(0, -1)), { name: 'FrameError', message: /truncated/ })
  t.end()
})

t.test('a long response comes out of its slices as it went in', (t) => {
  const pieces = Array.from({ length: 3000 }, (_, n) => text(`${n}`.repeat((n % 97) + 1)))
  const long = text('é漢😀'.repeat(100_000))
  t.same(cut(...pieces, long, ['NEW_TYPE', 'between'], ...pieces, STOP), [[[...pieces, long, ...pieces].map(([, piece]) => piece)]])
  t.end()
})
