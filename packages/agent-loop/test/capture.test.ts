import { frames } from '@agentpipe/testing'
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
