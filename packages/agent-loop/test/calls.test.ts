import { frames } from '@agentpipe/testing'
import t from 'tap'
import { calls, STOP, USAGE } from './support/model.js'
import { Ring } from './support/ring.js'

const ok = (name: string, id: string) => [['TOOL_RESULT', id, name, 'ok']]

t.test('a tool that nobody defined is answered with the names there are', async (t) => {
  const names = ['bash_exec', '__proto__', 'a name with spaces', 'x'.repeat(300), '\x1b[31m']
  const ring = new Ring(t, Buffer.concat(names.map((name, n) => calls([name, `c${n}`, '{}']))), { tools: ['Do', 'Read', 'Do'], answer: () => undefined })
  for (const [n, name] of names.entries()) {
    const sent = await ring.turn('go')
    t.match(ring.all('TOOL_RESULT', sent), [['TOOL_RESULT', `c${n}`, name, /The tools are: Do, Read\.$/, 'status', 'error']])
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
})

t.test('a call whose input is no JSON object is never made: it is an ERROR, and the model is asked again', async (t) => {
  const inputs = ['', '[]', '"x"', 'null', '{"a":', '12']
  const ring = new Ring(t, Buffer.concat(inputs.map((input) => calls(['Do', 'c1', input]))), { tools: ['Do'], answer: ok })
  for (const input of inputs) {
    const sent = await ring.turn('go')
    const types = sent.map(([type]) => type)
    t.same(types, ['USER_MESSAGE', 'ERROR', 'USAGE', 'TEXT', 'USAGE', 'STOP'], JSON.stringify(input))
    t.match(ring.all('ERROR', sent), [['ERROR', /Do was not made/, 'code', 'bad_call']])
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 0 })
})

t.test('ids are made legal, and unique in the session', async (t) => {
  const model = calls(['Do', 'a b/ü', '{}'], ['Do', 'a b/ü', '{}'], ['Do', '', '{}'], ['Do', 'x'.repeat(300), '{}'], ['Do', '__proto__', '{}'])
  const ring = new Ring(t, Buffer.concat([model, model]), { tools: ['Do'], answer: ok })
  ring.send(['USER_INPUT', 'go'], ['USER_INPUT', 'again'], ['END'])
  t.match(await ring.ended, { status: 0 })
  const ids = ring.all('TOOL_CALL').map(([, , id]) => id as string)
  t.equal(ids.length, 10)
  t.equal(new Set(ids).size, 10)
  for (const id of ids) t.match(id, /^[A-Za-z0-9_-]{1,70}$/)
})

t.test('calls go round when the response is whole, side by side, and results are matched by id in any order', async (t) => {
  const model = frames(['TOOL_CALL', 'Do', 'c1', '{}'], ['TEXT', 'Both.'], ['TOOL_CALL', 'Do', 'c2', '{}'], USAGE, ['TEXT', 'Done.'], USAGE, STOP)
  const held: string[] = []
  const ring = new Ring(t, model, {
    tools: ['Do'],
    answer: (_, id) => {
      held.unshift(id)
      return held.length === 2 ? held.flatMap((each) => ok('Do', each)) : undefined
    },
  })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(ring.types(), ['HELLO', 'USER_MESSAGE', 'TEXT', 'TOOL_CALL', 'TOOL_CALL', 'USAGE', 'TEXT', 'USAGE', 'STOP'])
})

t.test('a response that was cut by a limit makes no calls', async (t) => {
  const reasons = ['max_tokens', 'refusal']
  const cut = reasons.map((reason) => frames(['TEXT', 'So'], ['TOOL_CALL', 'Do', 'c1', '{}'], USAGE, ['STOP', reason]))
  const ring = new Ring(t, Buffer.concat(cut), { tools: ['Do'], answer: ok })
  for (const reason of reasons) {
    const sent = await ring.turn('go')
    t.same(
      sent.map(([type]) => type),
      ['USER_MESSAGE', 'TEXT', 'USAGE', 'STOP'],
    )
    t.same(sent.at(-1), ['STOP', reason])
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 1 })
})

t.test('--max-turns bounds the requests of a turn', async (t) => {
  const endless = Array.from({ length: 10 }, (_, n) => [['TOOL_CALL', 'Do', `c${n}`, '{}'], USAGE]).flat()
  const ring = new Ring(t, frames(...endless, STOP), { args: ['--max-turns', '3'], tools: ['Do'], answer: ok })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 1 })
  t.equal(ring.all('TOOL_CALL').length, 3)
  t.same(ring.sent.at(-1), ['STOP', 'max_turns'])
})
