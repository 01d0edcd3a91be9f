import { parseMessage } from '@agentpipe/message'
import { frames, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { Conversation } from '../src/conversation.js'
import { recordedMessage } from '../src/history.js'

/** The conversation that these events make. */
function conversation(...events: readonly (readonly string[])[]): Conversation {
  const made = new Conversation()
  for (const frame of framesOf(frames(...events))) {
    const message = parseMessage(frame)
    if (message !== undefined) made.take(message)
  }
  return made
}

const USAGE = ['USAGE', '1', '1', '0', '0', 'model', 'm']

t.test('pieces make one block, and blocks keep their order', (t) => {
  const { items } = conversation(
    ['USER_MESSAGE', 'hi'],
    ['THINKING', 'a'],
    ['THINKING', 'b', 'signature', 's'],
    ['THINKING', 'c'],
    ['TEXT', 'd'],
    ['TEXT', 'e'],
    USAGE,
  )
  t.same(items, [
    { kind: 'user', text: 'hi' },
    { kind: 'thinking', text: 'ab', signature: 's', whole: true },
    { kind: 'thinking', text: 'c', whole: true },
    { kind: 'text', text: 'de' },
    { kind: 'response', model: 'm', tokens: 2 },
  ])
  t.end()
})

t.test('thinking that was cut is not whole', (t) => {
  t.match(conversation(['THINKING', 'a']).items, [{ kind: 'thinking', whole: false }])
  t.end()
})

t.test('calls are open until their result; a second result, and one of no call, are kept as they happened', (t) => {
  const made = conversation(
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    ['TOOL_CALL', 'Do', 'c2', '{}'],
    ['TOOL_RESULT', 'c1', 'Do', 'x'],
    ['TOOL_RESULT', 'c1', 'Do', 'y'],
    ['TOOL_RESULT', 'c9', 'Do', 'z'],
  )
  t.same([...made.openCalls], [['c2', 'Do']])
  t.equal(made.items.filter(({ kind }) => kind === 'result').length, 3)
  t.ok(made.hasCall('c1') && made.hasCall('c2') && !made.hasCall('c9'))
  t.end()
})

t.test('RETRY takes back what was said since the last USAGE, and no more', (t) => {
  const { items } = conversation(['USER_MESSAGE', 'hi'], ['TEXT', 'kept'], USAGE, ['THINKING', 'void'], ['TEXT', 'void'], ['RETRY'], ['TEXT', 'new'])
  t.same(
    items.map((item) => ('text' in item ? item.text : item.kind)),
    ['hi', 'kept', 'response', 'new'],
  )
  t.end()
})

t.test('a summary stands in place of all but the last turns', (t) => {
  const turns = ['one', 'two', 'three'].flatMap((text) => [['USER_MESSAGE', text], ['TEXT', `${text}!`], USAGE, ['STOP', 'end_turn']])
  const texts = (kept: string) => {
    const { items } = conversation(...turns, ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'S', 'kept', kept])
    return items.flatMap((item) => (item.kind === 'user' || item.kind === 'summary' ? [item.text] : []))
  }
  t.same(texts('1'), ['S', 'three'])
  t.same(texts('0'), ['S'])
  t.same(texts('9'), ['S', 'one', 'two', 'three'])
  t.end()
})

t.test('results and notices in the middle of what the model says do not cut it', (t) => {
  const { items } = conversation(
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    USAGE,
    ['THINKING', 'a'],
    ['TOOL_RESULT', 'c1', 'Do', 'x'],
    ['THINKING', 'b', 'signature', 's'],
    ['TEXT', 'c'],
    ['SUB_AGENT_RESULT', 'n1', 'ok', 'found'],
    ['TEXT', 'd'],
    ['ERROR', 'refused', 'code', 'bad_call'],
    ['ERROR', 'for people only', 'code', 'control'],
    USAGE,
  )
  t.same(
    items.map((item) => ('text' in item ? [item.kind, item.text] : [item.kind])),
    [
      ['call'],
      ['response'],
      ['thinking', 'ab'],
      ['result'],
      ['text', 'cd'],
      ['notice', 'Sub-agent n1 has ended (ok):\nfound'],
      ['notice', 'refused'],
      ['response'],
    ],
  )
  t.match(items[2], { signature: 's', whole: true })
  t.end()
})

t.test('thinking that an interrupt cut is not whole, though USAGE and STOP follow', (t) => {
  const { items } = conversation(['THINKING', 'half'], USAGE, ['STOP', 'interrupted'], ['USER_MESSAGE', 'next'], ['THINKING', 'new'], ['TEXT', 'x'])
  t.match(items, [{ whole: false, text: 'half' }, {}, {}, {}, { whole: true, text: 'new' }, {}])
  t.end()
})

t.test('thinking is kept byte for byte, empty with a signature, and unreadable', (t) => {
  const text = '\u2028\u00a0 é漢😀\r\n\0 '
  const { items } = conversation(['THINKING', text], ['THINKING', '', 'signature', 's1'], ['THINKING', '', 'signature', 's2'], ['THINKING', '', 'opaque', 'o'])
  t.same(items, [
    { kind: 'thinking', text, signature: 's1', whole: true },
    { kind: 'thinking', text: '', signature: 's2', whole: true },
    { kind: 'thinking', text: '', opaque: 'o', whole: true },
  ])
  t.end()
})

t.test('usage of compactions and sub-agents closes no response', (t) => {
  const aside = (kind: string) => ['USAGE', '9', '9', '0', '0', 'kind', kind]
  const { items } = conversation(['TEXT', 'a'], aside('sub_agent'), ['TEXT', 'b'], aside('compact'), ['TEXT', 'c'], aside('agent'), ['TEXT', 'd'], aside('new'))
  t.same(
    items.map((item) => ('text' in item ? item.text : item.kind)),
    ['abc', 'response', 'd', 'response'],
  )
  t.end()
})

t.test('RETRY keeps calls and their results: they have happened', (t) => {
  const { items } = conversation(['TOOL_CALL', 'Do', 'c1', '{}'], ['TEXT', 'void'], ['TOOL_RESULT', 'c1', 'Do', 'x'], ['RETRY'], ['TEXT', 'new'])
  t.same(
    items.map(({ kind }) => kind),
    ['call', 'result', 'text'],
  )
  t.end()
})

t.test('a call that a summary has swallowed waits for no result; its id stays taken', (t) => {
  const made = conversation(
    ['USER_MESSAGE', 'a'],
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    ['CONTEXT_UPDATE', 'compact', 'manual', 'summary', 'S'],
    ['TOOL_RESULT', 'c1', 'Do', 'x'],
  )
  t.same(made.items, [{ kind: 'summary', text: 'S' }])
  t.equal(made.openCalls.size, 0)
  t.ok(made.hasCall('c1'))
  t.end()
})

t.test('what a summary keeps, however that is said', (t) => {
  for (const kept of ['', 'x', '-1', 'NaN', '0']) {
    t.equal(conversation(['USER_MESSAGE', 'a'], ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'S', 'kept', kept]).items.length, 1, kept)
  }
  t.equal(conversation(['USER_MESSAGE', 'a'], ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'S', 'kept', '1e9']).items.length, 2)
  t.equal(conversation(['USER_MESSAGE', 'a'], ['CONTEXT_UPDATE', 'compact', 'auto']).items.length, 1, 'without a summary nothing changes')
  t.end()
})

t.test('a summary that keeps responses of the last turn, with their results', (t) => {
  const made = conversation(
    ['USER_MESSAGE', 'a'],
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    USAGE,
    ['TOOL_RESULT', 'c1', 'Do', 'x'],
    ['TEXT', 'then'],
    ['TOOL_CALL', 'Do', 'c2', '{}'],
    USAGE,
    ['TOOL_RESULT', 'c2', 'Do', 'y'],
    ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'S', 'kept', '0', 'kept_responses', '1'],
  )
  t.match(made.items, [{ text: 'S' }, { text: 'then' }, { id: 'c2' }, { kind: 'response', tokens: undefined }, { output: 'y' }])
  t.end()
})

t.test('clear forgets all but the ids', (t) => {
  const made = conversation(['USER_MESSAGE', 'a'], ['TOOL_CALL', 'Do', 'c1', '{}'], ['CONTEXT_UPDATE', 'clear', 'manual'])
  t.same([made.items.length, made.openCalls.size, made.hasCall('c1')], [0, 0, true])
  t.end()
})

t.test('a recorded frame stands in HISTORY; what is none is malformed, at its place', (t) => {
  const [first, second, third, fourth] = framesOf(
    frames(['HISTORY', 'THINKING', 'a', 'signature', 's'], ['HISTORY', 'lower'], ['HISTORY', 'USAGE', '1'], ['HISTORY', 'NEW_TYPE']),
  )
  t.match(first && recordedMessage(first), { type: 'THINKING', text: 'a', attributes: { signature: 's' } })
  t.throws(() => second && recordedMessage(second), { offset: second?.offset, message: /expected HISTORY with the fields of a frame.* found "lower"/ })
  t.throws(() => third && recordedMessage(third), { offset: third?.offset, message: /expected USAGE with 4 fields/ })
  t.equal(fourth && recordedMessage(fourth), undefined)
  t.end()
})

t.test('a million pieces, and a call in the middle of every ten thousand', (t) => {
  const made = new Conversation()
  for (let n = 0; n < 1_000_000; n++) {
    made.take({ type: 'TEXT', text: 'x', attributes: {} })
    if (n % 10_000 === 0) made.take({ type: 'TOOL_CALL', name: 'Do', id: `c${n}`, input: '{}', attributes: {} })
  }
  t.equal(made.items.length, 201)
  t.end()
})
