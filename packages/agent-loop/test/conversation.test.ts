import { parseMessage } from '@agentpipe/message'
import { frames, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { Conversation } from '../src/conversation.js'

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
    { kind: 'response', model: 'm' },
  ])
  t.end()
})

t.test('thinking that was cut is not whole', (t) => {
  t.match(conversation(['THINKING', 'a']).items, [{ kind: 'thinking', whole: false }])
  t.end()
})

t.test('calls are open until their result; a second result, and one of no call, are not taken', (t) => {
  const made = conversation(
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    ['TOOL_CALL', 'Do', 'c2', '{}'],
    ['TOOL_RESULT', 'c1', 'Do', 'x'],
    ['TOOL_RESULT', 'c1', 'Do', 'y'],
    ['TOOL_RESULT', 'c9', 'Do', 'z'],
  )
  t.same([...made.openCalls], [['c2', 'Do']])
  t.equal(made.items.filter(({ kind }) => kind === 'result').length, 1)
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
