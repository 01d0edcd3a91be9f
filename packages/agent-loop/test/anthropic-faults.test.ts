import t from 'tap'
import { call, conversation, did } from './support/anthropic-conversation.js'
import { AnthropicServer, type Event, type Part, response, says, stream } from './support/anthropic-server.js'
import { Ring } from './support/ring.js'

// Each of them is a process: a loaded machine needs its time.
t.setTimeout(300_000)

t.test('27: interrupted between call and result, after the first of two, denied, and given up: the next request is valid', async (t) => {
  const interrupt = ['INTERRUPT', 'n1']
  const answers: ((name: string, id: string) => string[][])[] = [
    () => [interrupt],
    (name, id) => (id === 't1' ? did(name, id) : [interrupt]),
    (name, id) => [['TOOL_RESULT', id, name, 'Permission was denied.', 'status', 'denied']],
    (name, id) => [['TOOL_RESULT', id, name, '', 'status', 'cancelled']],
  ]
  for (const answer of answers) {
    const script = [says({ text: 'I do.' }, call('t1'), call('t2')), says({ text: 'Hi.' }), says({ text: 'Hi.' })]
    const { server, ended } = await conversation(t, script, ['go', 'hi'], answer)
    t.match(ended, { status: 0, stderr: '' })
    t.same(server.mock.faults, [])
    t.match(server.asked.at(-1)?.[2]?.content.slice(0, 2), [{ tool_use_id: 't1' }, { tool_use_id: 't2', is_error: true }])
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
  for (const [name, body] of cases) {
    for (const end of ['properly', 'broken'] as const) {
      const { server, ring, ended } = await conversation(t, [{ body, end }, says({ text: 'Hi.' }), says({ text: 'Ho.' })], ['go', 'hi'])
      t.match(ended, { status: 0, stderr: '' }, name)
      t.match(ring.all('ERROR'), body === '' ? [] : [['ERROR', /; the model is asked to go on$/, 'code', 'cut']], name)
      t.match(ring.all('RETRY'), body === '' ? [['RETRY', 'attempt', '1', 'delay_ms', /^\d+$/, 'reason', /\w/]] : [], name)
      t.same(
        ring.all('STOP'),
        [
          ['STOP', 'end_turn'],
          ['STOP', 'end_turn'],
        ],
        name,
      )
      t.same(ring.all('TOOL_CALL'), [], name)
      t.same(server.mock.faults, [], name)
      const [, kept, next] = server.asked[1] ?? []
      if (body !== '') t.match([kept?.content, next?.content], [[{ text: /^I/ }], [{ text: /^Your answer was cut off/ }]], name)
      t.equal(ring.all('USAGE').length, body === '' ? 2 : 3)
    }
  }
})

t.test('28: answers that break off again and again end the turn', async (t) => {
  const body = stream(...response([{ text: 'Well' }]).slice(0, 4))
  const { ring, ended } = await conversation(t, Array(5).fill({ body }), ['go'])
  t.match(ended, { status: 69 })
  t.equal(ring.all('ERROR').length, 4)
  t.equal(ring.all('TEXT').length, 4)
})

t.test('28 d: everything said, and the last event cut: complete', async (t) => {
  const body = stream(...response([{ text: 'Done.' }]))
  for (const end of ['properly', 'broken'] as const) {
    const { ring, ended } = await conversation(t, [{ body: body.slice(0, body.indexOf('{"type":"message_s', 300) + 10), end }], ['go'])
    t.match(ended, { status: 0, stderr: '' })
    t.same(ring.all('STOP'), [['STOP', 'end_turn']])
  }
})

t.test('29: errors inside a 200: asked again if nothing was said, else a visible error, and no text twice', async (t) => {
  const error: Event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const again = await conversation(t, [{ body: stream(error) }, says({ text: 'Hi.' })], ['go'])
  t.match(again.ended, { status: 0, stderr: '' })
  t.match(again.ring.all('RETRY'), [['RETRY', 'attempt', '1', 'delay_ms', /./, 'reason', 'the model server says: Overloaded (overloaded_error)']])
  t.equal(
    again.ring
      .all('TEXT')
      .map(([, text]) => text)
      .join(''),
    'Hi.',
  )
  const after = await conversation(t, [{ body: stream(...response([{ text: 'Hello' }]).slice(0, 4), error) }, says({ text: 'Hello.' })], ['go'])
  t.match(after.ended, { status: 75 })
  t.match(after.ring.all('ERROR'), [['ERROR', 'the model server says: Overloaded (overloaded_error)', 'code', 'busy']])
  t.same(after.ring.all('STOP'), [['STOP', 'error']])
  t.same(after.ring.all('RETRY'), [])
  t.equal(after.server.mock.requests.length, 1)
})

t.test('31: nothing blank is ever sent', async (t) => {
  const empties: Part[][] = [[{ thinking: 'only', signature: 's' }], [{ text: '\n' }, call('t1')], [], [{ text: ' ' }]]
  for (const parts of empties) {
    const { server, ended } = await conversation(t, [says(...parts), says({ text: 'Hi.' }), says({ text: 'Hi.' })], ['   ', 'hi'], (name, id) => [
      ['TOOL_RESULT', id, name, ''],
    ])
    t.match(ended, { status: 0, stderr: '' })
    t.same(server.mock.faults, [], JSON.stringify(parts))
  }
})

t.test('32: thinking with odd characters goes back as it came, and a block that was cut does not', async (t) => {
  const odd = 'a\u2028b \u{1F600} \u0085\r\n\t '
  const cut = response([{ thinking: 'cut', signature: 'EqQB' }]).slice(0, 6)
  const script = [says({ thinking: odd, signature: 's1' }, { text: 'x' }), { body: stream(...cut) }, says({ text: 'Hm.' }), says({ text: 'Hi.' })]
  const { server, ended } = await conversation(t, script, ['go', 'think', 'hi'])
  t.match(ended, { status: 0 })
  t.same(server.mock.faults, [])
  t.match(
    server.asked[3]?.map(({ content }) => content.map(({ type }) => type)),
    [['text'], ['thinking', 'text'], ['text'], ['text'], ['text']],
  )
  t.equal(server.asked[3]?.[1]?.content[0]?.thinking, odd)
})

const USAGE = ['USAGE', '1', '1', '0', '0', 'model', 'm']
const STOP = ['STOP', 'end_turn']
const asked = ['USER_MESSAGE', 'go']

t.test('a log with faults of every kind resumes, and what was mended is said once', async (t) => {
  const done = ['TOOL_RESULT', 'a', 'Do', 'x']
  const made = ['TOOL_CALL', 'Do', 'a', '{}']
  const logs: [said: RegExp, events: string[][]][] = [
    [/more than one result/, [asked, made, USAGE, done, done, STOP]],
    [/belonged to no call/, [asked, ['TEXT', 'x'], USAGE, done, STOP]],
    [/came late/, [asked, made, USAGE, STOP, ['USER_MESSAGE', 'and'], ['TEXT', 'x'], USAGE, STOP]],
    [/same id/, [asked, made, made, USAGE, done, done, STOP]],
    [/characters or a length/, [asked, ['TOOL_CALL', 'Do', 'a/b', '{}'], USAGE, ['TOOL_RESULT', 'a/b', 'Do', 'x'], STOP]],
    [/no JSON object/, [asked, ['TOOL_CALL', 'Do', 'a', '{"n":'], USAGE, done, STOP]],
    [/began with an answer/, [['TEXT', 'x'], USAGE, STOP]],
  ]
  const clean = [asked, ['THINKING', 'hm', 'signature', 's1'], made, USAGE, ['TOOL_RESULT', 'a', 'Do', ''], ['TEXT', ' '], USAGE, ['STOP', 'interrupted']]
  for (const [said, events] of [...logs, [/^$/, clean] as const]) {
    const server = await AnthropicServer.start(t, says({ text: 'x' }), says({ text: 'y' }))
    server.signed.set('s1', 'hm')
    const ring = new Ring(t, undefined, { env: server.env, args: ['--model=m'], tools: ['Do'] })
    ring.send(...events.map((event) => ['HISTORY', ...event]), ['USER_INPUT', 'on'], ['USER_INPUT', 'again'], ['END'])
    const { status, stderr } = await ring.ended
    t.equal(status, 0, String(said))
    t.same(server.mock.faults, [], String(said))
    t.match(stderr, said)
    t.equal(stderr.split('\n').length - 1, said.source === '^$' ? 0 : 1, stderr)
  }
})

t.test('32: another model gets no thinking of the first', async (t) => {
  const server = await AnthropicServer.start(t, says({ text: 'x' }))
  const ring = new Ring(t, undefined, { env: server.env, args: ['--model=other'], tools: ['Do'] })
  ring.send(...[asked, ['THINKING', 'hm', 'signature', 's1'], ['TEXT', 'x'], USAGE, STOP].map((event) => ['HISTORY', ...event]), ['USER_INPUT', 'on'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  t.match(server.asked[0]?.[1]?.content, [{ type: 'text', text: 'x' }])
})
