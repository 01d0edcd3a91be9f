import { fieldsOf, fixture, frames, run } from '@agentpipe/testing'
import t from 'tap'
import { callId } from '../src/call-ids.js'
import { Conversation } from '../src/conversation.js'
import { turnStatus } from '../src/turn-end.js'
import { says } from './support/model.js'
import { Ring } from './support/ring.js'

const input = frames(['USER_INPUT', 'hi'])

t.test('what cannot begin says so in one line', async (t) => {
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [[], {}, 78, /^agent-loop: no model to ask: .*--provider replay --from FILE.*\n$/],
    [['--provider', 'openai'], {}, 78, /^agent-loop: provider openai needs a key: set OPENAI_API_KEY, or give --key-file or --key-command; .*\n$/],
    [['--provider', 'anthropic', '--key-file', '/no/such/file'], {}, 78, /^agent-loop: --key-file \/no\/such\/file: no such file or directory\n$/],
    [['--provider', 'anthropic', '--key-command', 'exit 3'], {}, 78, /^agent-loop: --key-command failed with status 3\n$/],
    [['--provider', 'openai', '--base-url', 'localhost:1/v1'], {}, 64, /^agent-loop: --base-url: expected http:.*\n$/],
    [['--profile', 'x'], {}, 78, /^agent-loop: there is no profile "x": \/dev\/null has no agent-loop.profiles\n$/],
    [['--provider', '__proto__'], {}, 64, /^agent-loop: there is no provider "__proto__": anthropic, .*\n$/],
    [['--provider', 'replay'], {}, 64, /^agent-loop: --provider replay needs a captured session: --from FILE\n$/],
    [['--from', '/no/such/file'], {}, 66, /^agent-loop: cannot read \/no\/such\/file: no such file or directory\n$/],
    [['--from', fixture('sample-project', 'package.json')], {}, 65, /^agent-loop: \S+package.json: expected "\*" at byte 0, found .*\n$/],
    [['--from', fixture('demo', 'in.resp'), '--system', '/no/such/file'], {}, 66, /^agent-loop: cannot read \/no\/such\/file: .*\n$/],
  ]
  for (const [args, env, status, stderr] of cases) {
    const ended = await run('agent-loop', args, { input, env })
    t.equal(ended.status, status, args.join(' '))
    t.match(ended.stderr, stderr)
    t.notMatch(ended.stderr, 'sk-secret')
    t.equal(ended.stdout.length, 0, 'no frame was sent')
  }
})

t.test('a capture that has no more to say ends the turn in an error that says so, and status 69', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(['USER_INPUT', 'one'], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 69, stderr: '' })
  t.match(ring.all('ERROR'), [['ERROR', /model.resp has no more to say: it has 1 turn, this is number 2$/, 'code', 'exhausted']])
  t.same(ring.all('STOP'), [
    ['STOP', 'end_turn'],
    ['STOP', 'error'],
  ])
})

t.test('frames of the seed’s own shell functions play the model', async (t) => {
  for (const name of ['all-types', 'deltas']) {
    const ended = await run('agent-loop', ['--from', fixture('seed-writer', `${name}.resp`)], { input })
    t.equal(ended.status, 0)
    const text = fieldsOf(ended.stdout)
      .filter(([type]) => type === 'TEXT')
      .map(([, piece]) => piece)
    t.match(text.join(''), name === 'deltas' ? /quick.*lazy/s : /I will read the file first/)
  }
})

t.test('thinking keeps its signature, usage its numbers and its model', async (t) => {
  const model = frames(
    ['THINKING', 'Hm'],
    ['THINKING', ', yes'],
    ['THINKING', '', 'signature', 'EqQB', 'opaque', 'xyz'],
    ['TEXT', 'Yes.'],
    ['USAGE', '1200', '45', '1000', '7', 'model', 'm-1'],
    ['STOP', 'end_turn'],
  )
  const ring = new Ring(t, model, { tools: [] })
  ring.send(['USER_INPUT', 'so?'], ['END'])
  await ring.ended
  t.same(ring.all('THINKING'), [
    ['THINKING', 'Hm'],
    ['THINKING', ', yes'],
    ['THINKING', '', 'signature', 'EqQB', 'opaque', 'xyz'],
  ])
  t.same(ring.all('USAGE'), [['USAGE', '1200', '45', '1000', '7', 'model', 'm-1', 'kind', 'agent']])
  t.match(ring.sent[0], ['HELLO', '1', 's', 'agent', /./, 'cwd', /./, 'model', 'm-1'])
})

t.test('a session that is gone on with: a call without a result is answered, and its id is not used again', async (t) => {
  const model = frames(['TOOL_CALL', 'Do', 'c1', '{}'], ['USAGE', '1', '1', '0', '0'], ['TEXT', 'Done.'], ['USAGE', '1', '1', '0', '0'], ['STOP', 'end_turn'])
  const ring = new Ring(t, model, { tools: ['Do'], answer: (name, id) => [['TOOL_RESULT', id, name, 'ok']] })
  ring.send(['HISTORY', 'USER_MESSAGE', 'before'], ['HISTORY', 'TEXT', 'So'], ['HISTORY', 'TOOL_CALL', 'Do', 'c1', '{}'], ['HISTORY', 'NEW_TYPE', 'x'])
  ring.send(['USER_INPUT', 'go on'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(ring.types().slice(0, 3), ['HELLO', 'TOOL_RESULT', 'USER_MESSAGE'])
  t.match(ring.all('TOOL_RESULT'), [['TOOL_RESULT', 'c1', 'Do', /interrupted/, 'status', 'cancelled']])
  t.match(ring.all('TOOL_CALL'), [['TOOL_CALL', 'Do', 'c1_2']])
})

t.test('an image in an input is part of the message', async (t) => {
  const ring = new Ring(t, says('Nice.'), { tools: [] })
  ring.send(['USER_INPUT', 'look', 'image', 'aGk=', 'image_type', 'image/png'], ['END'])
  await ring.ended
  t.same(ring.all('USER_MESSAGE'), [['USER_MESSAGE', 'look', 'image', 'aGk=', 'image_type', 'image/png']])
})

t.test('a turn of the capture that has fewer responses than there are requests', async (t) => {
  const ring = new Ring(t, frames(['TOOL_CALL', 'Do', 'c1', '{}'], ['USAGE', '1', '1', '0', '0']), {
    tools: ['Do'],
    answer: (name, id) => [['TOOL_RESULT', id, name, 'ok']],
  })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 69, stderr: '' })
  t.match(ring.all('ERROR'), [['ERROR', /model.resp has no more to say: it has 1 response in this turn$/, 'code', 'exhausted']])
  t.same(ring.sent.at(-1), ['STOP', 'error'])
})

t.test('a captured turn that ended in an error ends in it again; one that was interrupted has an end', async (t) => {
  const model = frames(['TEXT', 'So'], ['USAGE', '1', '1', '0', '0'], ['ERROR', 'overloaded'], ['STOP', 'error'], ['TEXT', 'half'], ['STOP', 'interrupted'])
  const ring = new Ring(t, model, { tools: [] })
  ring.send(['USER_INPUT', 'one'], ['USER_INPUT', 'two'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.types(), ['HELLO', 'USER_MESSAGE', 'TEXT', 'USAGE', 'ERROR', 'STOP', 'USER_MESSAGE', 'TEXT', 'USAGE', 'STOP'])
  t.match(ring.all('ERROR'), [['ERROR', 'overloaded', 'code', 'unreachable']])
})

t.test('the exit status of each way to end', (t) => {
  t.same(
    (['end_turn', 'max_tokens', 'max_turns', 'refusal', 'interrupted'] as const).map((reason) => turnStatus({ reason })),
    [0, 1, 1, 1, 130],
  )
  t.same(
    (['key', 'busy', 'unreachable', 'exhausted'] as const).map((failure) => turnStatus({ reason: 'error', failure })),
    [77, 75, 69, 69],
  )
  t.end()
})

t.test('ids are made legal whatever they are, and never twice the same', (t) => {
  const conversation = new Conversation()
  const given = ['toolu_1', 'toolu_1', '', '', '__proto__', '__proto__', 'a.b/c d', '\0\r\n', '漢字', 'x'.repeat(300), 'x'.repeat(301), 'toolu_1_2', '-']
  const ids = given.map((id) => {
    const made = callId(id, conversation)
    conversation.take({ type: 'TOOL_CALL', name: 'Do', id: made, input: '{}', attributes: {} })
    return made
  })
  t.equal(new Set(ids).size, given.length)
  t.equal(ids[0], 'toolu_1', 'a legal one stays')
  for (const id of ids) t.match(id, /^[A-Za-z0-9_-]{1,70}$/)
  const resumed = new Conversation()
  resumed.isPartial = true
  for (const id of given) {
    const made = callId(id, resumed)
    t.match(made, /^[A-Za-z0-9_-]{1,70}$/)
    t.notOk(ids.includes(made), 'earlier calls may be unknown')
    resumed.take({ type: 'TOOL_CALL', name: 'Do', id: made, input: '{}', attributes: {} })
  }
  t.end()
})
