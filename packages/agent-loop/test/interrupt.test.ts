import t from 'tap'
import { CALLS_ONCE, says } from './support/model.js'
import { Ring } from './support/ring.js'

const stream = says('word ', 1_000_000)

for (const how of ['SIGINT', 'INTERRUPT'] as const) {
  t.test(`${how} while text streams, while a tool runs, and while one runs that does not answer`, async (t) => {
    const ring = new Ring(t, Buffer.concat([stream, says('Next.'), CALLS_ONCE, CALLS_ONCE]), { tools: ['Do'] })
    const interrupt = () => (how === 'SIGINT' ? ring.kill('SIGINT') : ring.send(['INTERRUPT', 'n1']))
    const interrupted = ring.turn('talk')
    await ring.until('TEXT')
    interrupt()
    t.same((await interrupted).at(-1), ['STOP', 'interrupted'])
    t.same((await ring.turn('and now')).at(-1), ['STOP', 'end_turn'], 'the next input works')

    const calling = ring.turn('do it')
    await ring.until('TOOL_CALL')
    const told = ring.all('INTERRUPT').length
    interrupt()
    await ring.until('INTERRUPT', told + 1)
    ring.send(['TOOL_RESULT', 'c1', 'Do', 'half', 'status', 'cancelled'])
    const sent = await calling
    t.same(ring.all('TOOL_RESULT', sent), [], 'the runner has answered')
    t.same(sent.at(-1), ['STOP', 'interrupted'])

    ring.send(['USER_INPUT', 'again'], ['END'])
    await ring.until('TOOL_CALL', 2)
    interrupt()
    interrupt()
    t.match(await ring.ended, { status: 130 })
    t.match(ring.all('TOOL_RESULT'), [['TOOL_RESULT', 'c1_2', 'Do', /interrupted/, 'status', 'cancelled']], 'after two seconds agent-loop does')
    t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
  })
}

t.test('SIGINT while HELLO is waited for', async (t) => {
  const ring = new Ring(t, says('Hi.'), { args: ['--once'] })
  ring.send(['USER_INPUT', 'hi'])
  await ring.until('USER_MESSAGE')
  ring.kill('SIGINT')
  t.same(await ring.until('STOP'), ['STOP', 'interrupted'])
  ring.end()
  t.match(await ring.ended, { status: 130 })
})

t.test('SIGTERM in mid-turn: STOP interrupted is still sent, then it ends by the signal', async (t) => {
  const ring = new Ring(t, CALLS_ONCE, { tools: ['Do'] })
  ring.send(['USER_INPUT', 'do it'])
  await ring.until('TOOL_CALL')
  ring.kill('SIGTERM')
  t.match(await ring.ended, { signal: 'SIGTERM' })
  t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
})

t.test('a result that comes too late is not taken for one', async (t) => {
  const ring = new Ring(t, Buffer.concat([CALLS_ONCE, says('Next.')]), { tools: ['Do'] })
  ring.send(['USER_INPUT', 'do it'])
  await ring.until('TOOL_CALL')
  ring.kill('SIGINT')
  await ring.until('STOP')
  ring.send(['TOOL_RESULT', 'c1', 'Do', 'late'], ['USER_INPUT', 'next'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.equal(ring.all('STOP').length, 2)
})
