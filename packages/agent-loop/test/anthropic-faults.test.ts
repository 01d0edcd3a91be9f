import { eventually } from '@agentpipe/testing'
import t from 'tap'
import { Conversations, call, did } from './support/anthropic-conversation.js'
import { type Event, type Part, response, says, stream } from './support/anthropic-server.js'

t.setTimeout(300_000)

const talk = await Conversations.start(t)
const { faults } = talk.server.mock

t.test('27: interrupted between call and result, after the first of two, denied, and given up: the next request is valid', async (t) => {
  const interrupt = ['INTERRUPT', 'n1']
  const answers: ((name: string, id: string) => string[][])[] = [
    () => [interrupt],
    (name, id) => (id.startsWith('t1') ? did(name, id) : [['INTERRUPT', 'n2']]),
    (name, id) => [['TOOL_RESULT', id, name, 'Permission was denied.', 'status', 'denied']],
    (name, id) => [['TOOL_RESULT', id, name, '', 'status', 'cancelled']],
  ]
  for (const answer of answers) {
    const script = [says({ text: 'I do.' }, call('t1'), call('t2')), says({ text: 'Hi.' }), says({ text: 'Hi.' })]
    const { asked } = await talk.play(script, ['go', 'hi'], answer)
    t.same(faults, [])
    t.match(asked.at(-1)?.[2]?.content.slice(0, 2), [{ tool_use_id: /^t1/ }, { tool_use_id: /^t2/, is_error: true }])
  }
})

t.test('28: a stream that just stops: no tool runs, what was said is kept and gone on from, else it is asked for again', async (t) => {
  const whole = response([{ text: 'I will do it.' }, call('t1', '{"n":1}')])
  const upTo = (type: string, count: number) => whole.slice(0, whole.findLastIndex((event) => event.type === type) + count)
  const cases: [name: string, body: string][] = [
    ['a: after text', stream(...whole.slice(0, 5))],
    ['b: in the input of a call', stream(...upTo('content_block_delta', 0))],
    ['c: headers alone', ''],
  ]
  const stop = ['STOP', 'end_turn']
  for (const [name, body] of cases) {
    for (const end of ['properly', 'broken'] as const) {
      const { all, asked } = await talk.play([{ body, end }, says({ text: 'Hi.' }), says({ text: 'Ho.' })], ['go', 'hi'])
      t.match(all('ERROR'), body === '' ? [] : [['ERROR', /; the model is asked to go on$/, 'code', 'cut']], name)
      t.match(all('RETRY'), body === '' ? [['RETRY', 'attempt', '1', 'delay_ms', /^\d+$/, 'reason', /\w/]] : [], name)
      t.same(all('STOP'), [stop, stop], name)
      t.same(all('TOOL_CALL'), [], name)
      t.same(faults, [], name)
      const [, kept, next] = asked[1] ?? []
      if (body !== '') t.match([kept?.content, next?.content], [[{ text: /^I/ }], [{ text: /^Your answer was cut off/ }]], name)
      t.equal(all('USAGE').length, body === '' ? 2 : 3)
    }
  }
})

t.test('28 d: everything said, and the last event cut: complete', async (t) => {
  const body = stream(...response([{ text: 'Done.' }]))
  for (const end of ['properly', 'broken'] as const) {
    const { all } = await talk.play([{ body: body.slice(0, body.indexOf('{"type":"message_s', 300) + 10), end }], ['go'])
    t.same(all('STOP'), [['STOP', 'end_turn']])
    t.same(all('ERROR'), [])
  }
})

t.test('29: errors inside a 200: asked again if nothing was said, else a visible error, and no text twice', async (t) => {
  const error: Event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const again = await talk.play([{ body: stream(error) }, says({ text: 'Hi.' })], ['go'])
  t.match(again.all('RETRY'), [['RETRY', 'attempt', '1', 'delay_ms', /./, 'reason', 'the model server says: Overloaded (overloaded_error)']])
  const said = again.all('TEXT').map(([, text]) => text)
  t.equal(said.join(''), 'Hi.')
  t.same(again.all('STOP'), [['STOP', 'end_turn']])
  const after = await talk.play([{ body: stream(...response([{ text: 'Hello' }]).slice(0, 4), error) }, says({ text: 'Hello.' })], ['go'])
  t.match(after.all('ERROR'), [['ERROR', 'the model server says: Overloaded (overloaded_error)', 'code', 'busy']])
  t.same(after.all('STOP'), [['STOP', 'error']])
  t.same(after.all('RETRY'), [])
  t.equal(after.asked.length, 1)
})

t.test('31: nothing blank is ever sent', async (t) => {
  const empties: Part[][] = [[{ thinking: 'only', signature: 's' }], [{ text: '\n' }, call('t1')], [], [{ text: ' ' }]]
  for (const parts of empties) {
    const { all } = await talk.play([says(...parts), says({ text: 'Hi.' }), says({ text: 'Hi.' })], ['   ', 'hi'], (name, id) => [
      ['TOOL_RESULT', id, name, ''],
    ])
    t.same(all('STOP').at(-1), ['STOP', 'end_turn'])
    t.same(faults, [], JSON.stringify(parts))
  }
})

t.test('32: thinking with odd characters goes back as it came, and a block that was cut does not', async (t) => {
  const odd = 'a\u2028b \u{1F600} \u0085\r\n\t '
  const cut = response([{ thinking: 'cut', signature: 'EqQB' }]).slice(0, 6)
  const script = [says({ thinking: odd, signature: 's1' }, { text: 'x' }), { body: stream(...cut) }, says({ text: 'Hm.' }), says({ text: 'Hi.' })]
  const { asked } = await talk.play(script, ['go', 'think', 'hi'])
  t.same(faults, [])
  t.match(
    asked[3]?.map(({ content }) => content.map(({ type }) => type)),
    [['text'], ['thinking', 'text'], ['text'], ['text'], ['text']],
  )
  t.equal(asked[3]?.[1]?.content[0]?.thinking, odd)
})

const USAGE = ['USAGE', '1', '1', '0', '0', 'model', 'm']
const STOP = ['STOP', 'end_turn']
const asked = ['USER_MESSAGE', 'go']

t.test('32: another model gets no thinking of the first', async (t) => {
  const [thinking, usage] = [
    ['THINKING', 'hm', 'signature', 's1'],
    ['USAGE', '1', '1', '0', '0', 'model', 'another'],
  ]
  const played = await talk.play([says({ text: 'x' })], ['on'], did, [asked, thinking, ['TEXT', 'x'], usage, STOP])
  t.same(faults, [])
  t.match(played.asked[0]?.[1]?.content, [{ type: 'text', text: 'x' }])
})

t.test('a log with faults of every kind resumes, and what was mended is said once', async (t) => {
  const done = ['TOOL_RESULT', 'a', 'Do', 'x']
  const made = ['TOOL_CALL', 'Do', 'a', '{}']
  const clean = [asked, ['THINKING', 'hm', 'signature', 's1'], made, USAGE, ['TOOL_RESULT', 'a', 'Do', ''], ['TEXT', ' '], USAGE, ['STOP', 'interrupted']]
  const logs: [said: RegExp, events: string[][]][] = [
    [/^$/, clean],
    [/more than one result\n$/, [asked, made, USAGE, done, done, STOP]],
    [/belonged to no call\n$/, [asked, ['TEXT', 'x'], USAGE, done, STOP]],
    [/came late\n$/, [asked, made, USAGE, STOP, ['USER_MESSAGE', 'and'], ['TEXT', 'x'], USAGE, STOP]],
    [/same id\n$/, [asked, made, made, USAGE, done, done, STOP]],
    [/characters or a length.*\n$/, [asked, ['TOOL_CALL', 'Do', 'a/b', '{}'], USAGE, ['TOOL_RESULT', 'a/b', 'Do', 'x'], STOP]],
    [/no JSON object\n$/, [asked, ['TOOL_CALL', 'Do', 'a', '{"n":'], USAGE, done, STOP]],
    [/began with an answer\n$/, [['TEXT', 'x'], USAGE, STOP]],
  ]
  talk.server.signed.set('s1', 'hm')
  t.equal(talk.ring.stderr, '', 'nothing was mended up to here')
  for (const [said, events] of logs) {
    const before = talk.ring.stderr.length
    const { all } = await talk.play([says({ text: 'x' }), says({ text: 'y' })], ['on', 'again'], did, events)
    t.same(all('STOP'), [STOP, STOP])
    t.same(faults, [], String(said))
    await eventually(() => said.test(talk.ring.stderr.slice(before)))
    t.match(talk.ring.stderr.slice(before), said)
  }
  t.equal(talk.ring.stderr.split('\n').length, logs.length, 'a line each, however many requests it concerns')
})

t.test('28: answers that break off again and again end the turn', async (t) => {
  const body = stream(...response([{ text: 'Well' }]).slice(0, 4))
  const { all } = await talk.play(Array(5).fill({ body }), ['go'])
  t.equal(all('ERROR').length, 4)
  t.equal(all('TEXT').length, 4)
  t.match(await talk.end(), { status: 69 })
})
