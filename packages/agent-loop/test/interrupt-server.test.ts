import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, frames } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { AnthropicServer, response, says, stream } from './support/anthropic-server.js'
import type { Answer } from './support/mock-server.js'
import { says as captured } from './support/model.js'
import { Ring } from './support/ring.js'

const half = stream(...response([{ thinking: 'Let me see', signature: 'c2ln' }, { text: 'a long answer' }]).slice(0, 10))

const HANGING: Record<string, Answer> = {
  'before the first byte': { delay: 600_000 },
  'behind the headers': { end: 'never' },
  'while it streams': { body: half, end: 'never' },
  'behind the last byte': { body: stream(...response([{ text: 'all' }]).slice(0, -1)), end: 'never' },
}

t.test('SIGINT and INTERRUPT while the server hangs: the turn ends, a second one does no harm, the next turn works', async (t) => {
  const { server, ring } = await started(t)
  for (const [moment, answer] of Object.entries(HANGING)) {
    for (const how of ['SIGINT', 'INTERRUPT'] as const) {
      const what = `${how} ${moment}`
      const interrupted = await hanging(server, ring, answer)
      for (const nonce of ['n1', 'n2']) how === 'SIGINT' ? ring.kill('SIGINT') : ring.send(['INTERRUPT', nonce])
      t.same(ring.all('STOP', await interrupted()), [['STOP', 'interrupted']], what)
      // The second SIGINT may still be on its way, and would be for the next turn.
      await ring.settled()
      t.same((await ring.turn('and now')).at(-1), ['STOP', 'end_turn'], what)
      t.same(server.mock.faults, [], what)
    }
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
})

for (const [moment, answer] of Object.entries(HANGING)) {
  t.test(`SIGTERM, the server hangs ${moment}: STOP, and it leaves`, async (t) => {
    const { server, ring } = await started(t)
    await hanging(server, ring, answer)
    ring.kill('SIGTERM')
    t.match(await ring.ended, { signal: 'SIGTERM', stderr: '' })
    t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
  })
}

async function started(t: Test) {
  const server = await AnthropicServer.start(t)
  return { server, ring: new Ring(t, undefined, { env: server.env, tools: [] }) }
}

/** A turn whose request the server answers like that, and the one behind it as it should: resolves when it hangs. */
async function hanging(server: AnthropicServer, ring: Ring, answer: Answer): Promise<() => Promise<string[][]>> {
  const [texts, requests] = [ring.all('TEXT').length, server.mock.requests.length]
  server.mock.restart(answer, says({ text: 'Next.' }))
  const turn = ring.turn('talk').catch(() => [])
  await eventually(() => server.mock.requests.length > requests, 15_000)
  if (answer.body === half) await ring.until('TEXT', texts + 1)
  else await sleep(100)
  return () => turn
}

t.test('case 27: two calls, and an interrupt after the result of the first: the next request has a result for each', async (t) => {
  const calls = ['t1', 't2'].map((id) => ({ id, name: 'Do', input: '{}' }))
  const server = await AnthropicServer.start(t, says(...calls), says({ text: 'Next.' }))
  const answer = (name: string, id: string) => (id === 't1' ? [['TOOL_RESULT', id, name, 'one']] : undefined)
  const ring = new Ring(t, undefined, { env: server.env, tools: ['Do'], answer })
  ring.send(['USER_INPUT', 'go'])
  await ring.until('TOOL_CALL', 2)
  await ring.settled()
  ring.kill('SIGINT')
  t.same(await ring.until('STOP'), ['STOP', 'interrupted'])
  ring.send(['USER_INPUT', 'hi'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(server.mock.faults, [])
  t.match(server.asked[1]?.at(-1)?.content, [
    { tool_use_id: 't1', content: 'one' },
    { tool_use_id: 't2', content: /interrupted/, is_error: true },
    { text: 'hi' },
  ])
})

t.test('INTERRUPT of one call goes to the runners, and the turn goes on', async (t) => {
  const server = await AnthropicServer.start(t, says({ id: 't1', name: 'Do', input: '{}' }), says({ text: 'Then not.' }))
  const ring = new Ring(t, undefined, { env: server.env, tools: ['Do'] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  await ring.until('TOOL_CALL')
  ring.send(['INTERRUPT', 'n1', 'call', 't1'])
  t.same(await ring.until('INTERRUPT'), ['INTERRUPT', 'n1', 'call', 't1'])
  ring.send(['TOOL_RESULT', 't1', 'Do', 'half', 'status', 'cancelled'])
  t.match(await ring.ended, { status: 0 })
  t.same(ring.sent.at(-1), ['STOP', 'end_turn'])
})

t.test('SIGINT before the first input, with --once: the turn is taken up, and nothing is asked', async (t) => {
  const server = await AnthropicServer.start(t)
  const ring = new Ring(t, undefined, { env: server.env, args: ['--once'], tools: [] })
  await ring.until('HELLO')
  ring.kill('SIGINT')
  await ring.settled()
  ring.send(['USER_INPUT', 'hi'])
  t.match(await ring.ended, { status: 130, stderr: '' })
  const sent = ring.sent.filter(([type]) => type !== 'PROMPT').slice(1)
  t.same(sent, [
    ['USER_MESSAGE', 'hi'],
    ['STOP', 'interrupted'],
  ])
  t.same(server.mock.requests, [])
})

t.test('SIGINT before the first input, and others may come: it means nothing', async (t) => {
  const ring = new Ring(t, captured('Hi.'), { tools: [] })
  await ring.until('HELLO')
  ring.kill('SIGINT')
  await ring.settled()
  ring.write(frames(['USER_INPUT', 'hi'], ['END']))
  t.match(await ring.ended, { status: 0, stderr: '' })
})
