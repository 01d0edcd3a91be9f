import t from 'tap'
import { CALLS_ONCE, says } from './support/model.js'
import { Ring } from './support/ring.js'

const stream = says('word ', 1_000_000)

for (const how of ['SIGINT', 'INTERRUPT'] as const) {
  const interrupt = (ring: Ring) => (how === 'SIGINT' ? ring.kill('SIGINT') : ring.send(['INTERRUPT', 'n1']))

  t.test(`${how} while text streams: STOP interrupted, and the next input works`, async (t) => {
    const ring = new Ring(t, Buffer.concat([stream, says('Next.')]), { tools: [] })
    ring.send(['USER_INPUT', 'talk'])
    await ring.until('TEXT')
    interrupt(ring)
    t.same(await ring.until('STOP'), ['STOP', 'interrupted'])
    ring.send(['USER_INPUT', 'and now'], ['END'])
    t.match(await ring.ended, { status: 0 })
    t.same(ring.sent.at(-1), ['STOP', 'end_turn'])
  })

  t.test(`${how} while a tool runs: the runners are told, and their answer is waited for`, async (t) => {
    const ring = new Ring(t, CALLS_ONCE, { args: ['--once'], tools: ['Do'] })
    ring.send(['USER_INPUT', 'do it'])
    await ring.until('TOOL_CALL')
    interrupt(ring)
    await ring.until('INTERRUPT')
    ring.send(['TOOL_RESULT', 'c1', 'Do', 'half', 'status', 'cancelled'])
    t.match(await ring.ended, { status: 130 })
    t.same(ring.all('TOOL_RESULT'), [], 'the runner has answered')
    t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
  })

  t.test(`${how} while a tool runs that does not answer: after two seconds agent-loop does`, async (t) => {
    const ring = new Ring(t, CALLS_ONCE, { args: ['--once'], tools: ['Do'] })
    ring.send(['USER_INPUT', 'do it'])
    await ring.until('TOOL_CALL')
    interrupt(ring)
    interrupt(ring)
    t.match(await ring.ended, { status: 130 })
    t.match(ring.all('TOOL_RESULT'), [['TOOL_RESULT', 'c1', 'Do', /interrupted/, 'status', 'cancelled']])
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
