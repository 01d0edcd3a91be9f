import { eventually, everyCut, frames } from '@agentpipe/testing'
import t from 'tap'
import { CALLS_ONCE, says } from './support/model.js'
import { Ring } from './support/ring.js'

const ok = (_: string, id: string) => [['TOOL_RESULT', id, 'Do', 'it is done', 'status', 'ok']]

t.test('a turn with a tool: what is sent, in order', async (t) => {
  const ring = new Ring(t, CALLS_ONCE, { tools: ['Do'], answer: ok })
  ring.send(['USER_INPUT', 'do it'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.types(), ['HELLO', 'USER_MESSAGE', 'TEXT', 'TOOL_CALL', 'USAGE', 'TEXT', 'USAGE', 'STOP'])
  t.match(ring.sent[0], ['HELLO', '1', 's', 'agent', /^agentpipe\//, 'cwd'])
  t.same(ring.all('TOOL_CALL'), [['TOOL_CALL', 'Do', 'c1', '{"n":1}', 'n', '1']])
})

t.test('HELLO is sent before anything is read, and nothing is asked before it has come round', async (t) => {
  const ring = new Ring(t, says('Hi.'))
  await ring.until('HELLO')
  ring.send(['USER_INPUT', 'hi'], ['HELLO', '1', 'of somebody else'])
  await ring.until('USER_MESSAGE')
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.same(ring.types(), ['HELLO', 'USER_MESSAGE'])
  ring.send(['HELLO', '1', 's'])
  await ring.until('STOP')
  ring.end()
  t.match(await ring.ended, { status: 0 })
})

t.test('HELLO that does not come round: one line after five seconds, and it goes on waiting', async (t) => {
  const ring = new Ring(t, says('Hi.'))
  ring.send(['USER_INPUT', 'hi'])
  await ring.until('USER_MESSAGE')
  await eventually(() => ring.stderr !== '', 30_000)
  t.match(ring.stderr, /^agent-loop: HELLO has not come round in 5 seconds.*\n$/)
  ring.send(['HELLO', '1', 's'], ['END'])
  t.match(await ring.ended, { status: 0 })
})

t.test('no ring: input that ends before HELLO came round is answered without tools', async (t) => {
  const ring = new Ring(t, CALLS_ONCE)
  ring.send(['USER_INPUT', 'hi'])
  ring.end()
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(ring.all('ERROR'), [['ERROR', 'a call of Do was not made: there are no tools', 'code', 'bad_call']])
  t.same([ring.all('TOOL_CALL'), ring.all('TOOL_RESULT')], [[], []], 'a runner behind would run a call that it sees')
})

t.test('--no-tools waits for no HELLO, and has no tools even where there are some', async (t) => {
  const ring = new Ring(t, CALLS_ONCE, { args: ['--no-tools', '--once'], tools: ['Do'], answer: () => undefined })
  ring.send(['USER_INPUT', 'hi'])
  t.match(await ring.ended, { status: 0 })
  t.match(ring.all('ERROR'), [['ERROR', 'a call of Do was not made: there are no tools', 'code', 'bad_call']])
  t.same(ring.all('TOOL_CALL'), [], 'a runner that knows the tool would run it')
})

t.test('--once leaves after the first turn, END after all that was put in before it, the end of input too', async (t) => {
  const twice = Buffer.concat([says('One.'), says('Two.')])
  for (const [args, stops] of [
    [['--once'], 1],
    [[], 2],
  ] as const) {
    const ring = new Ring(t, twice, { args, tools: [] })
    ring.send(['USER_INPUT', 'a'], ['USER_INPUT', 'b'], ['END'])
    t.match(await ring.ended, { status: 0 })
    t.equal(ring.all('STOP').length, stops)
  }
})

t.test('END alone: nothing was asked', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.types(), ['HELLO'])
})

t.test('of what comes round only PERMISSION, INTERRUPT and PROMPT go on, each once', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(
    ['PERMISSION', 'c9', 'allow'],
    ['PROMPT', 'hi', '2'],
    ['INTERRUPT', 'n1'],
    ['TEXT', 'not ours'],
    ['NEW_TYPE', 'x'],
    ['CONTROL', 'clear', ''],
    ['END'],
  )
  t.match(await ring.ended, { status: 0 })
  t.same(ring.types(), ['HELLO', 'PERMISSION', 'PROMPT', 'INTERRUPT', 'CONTEXT_UPDATE'])
})

t.test('a permission that nobody was asked for is denied', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(['PERMISSION_REQUEST', 'c1', 'Bash', 'ask'], ['END'])
  await ring.ended
  t.same(ring.all('PERMISSION'), [['PERMISSION', 'c1', 'deny', 'reason', 'nobody was there to be asked']])
})

t.test('input cut in two at every byte is the same input', async (t) => {
  const cuts = [...everyCut(frames(['USER_INPUT', 'é漢😀'], ['CONTROL', 'clear', '']))]
  const ring = new Ring(t, Buffer.concat(cuts.map(() => says('Hi.'))), { args: ['--no-tools'] })
  for (const [at, [first, second]] of cuts.entries()) {
    // What stands before a frame that has come back was read with it.
    ring.write(Buffer.concat([frames(['PROMPT', `${at}`, '0']), first]))
    await ring.until('PROMPT', at + 1)
    ring.write(second)
    await ring.until('CONTEXT_UPDATE', at + 1)
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.all('USER_MESSAGE'), Array(cuts.length).fill(['USER_MESSAGE', 'é漢😀']))
})

t.test('a malformed back edge: an ERROR, and status 65', async (t) => {
  const ring = new Ring(t, says('Hi.'))
  ring.write(Buffer.from('hello\n'))
  t.match(await ring.ended, { status: 65, stderr: 'agent-loop: expected "*" at byte 0, found "hello\\n"\n' })
  t.match(ring.all('ERROR'), [['ERROR', /expected/, 'code', 'malformed', 'source', 'agent-loop', 'offset', '0']])
})

t.test('a ring that is cut while a tool runs: STOP error, 69, no hang', async (t) => {
  const ring = new Ring(t, CALLS_ONCE, { tools: ['Do'] })
  ring.send(['USER_INPUT', 'do it'])
  await ring.until('TOOL_CALL')
  ring.end()
  t.match(await ring.ended, { status: 69 })
  t.match(ring.all('ERROR'), [['ERROR', /a stage behind agent-loop has ended/]])
  t.match(ring.all('TOOL_RESULT'), [['TOOL_RESULT', 'c1', 'Do', /./, 'status', 'cancelled']])
  t.same(ring.sent.at(-1), ['STOP', 'error'])
})

t.test('a reader that has gone: no word, and the status of SIGPIPE, since the turn was not brought to its end', async (t) => {
  const ring = new Ring(t, says('some words ', 200_000), { tools: [] })
  await ring.until('HELLO')
  ring.stopReading()
  ring.send(['USER_INPUT', 'hi'])
  t.match(await ring.ended, { status: 141, stderr: '' })
})
