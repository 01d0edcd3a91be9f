import { priceOf } from '@agentpipe/stage'
import { frames } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { Ring } from './support/ring.js'

const usage = (...tokens: readonly string[]) => ['USAGE', ...tokens, 'model', 'm']
const MODEL = frames(...Array.from({ length: 9 }, (_, n) => [['TOOL_CALL', 'Do', `c${n}`, `{"n":${n}}`], usage('1000000', '0', '0', '0')]).flat(), [
  'STOP',
  'end_turn',
])
const ok = (name: string, id: string) => [['TOOL_RESULT', id, name, 'ok']]

function config(t: Test, prices: unknown): Record<string, string> {
  return { AGENTPIPE_CONFIG: `${t.testdir({ 'config.json': JSON.stringify({ 'agent-loop': { prices } }) })}/config.json` }
}

t.test('the limit is looked at before each request', async (t) => {
  const env = config(t, { m: { input: 2, output: 10 } })
  const ring = new Ring(t, MODEL, { args: ['--max-cost', '5'], env, tools: ['Do'], answer: ok })
  ring.send(['USER_INPUT', 'go'], ['USER_INPUT', 'again'], ['END'])
  t.match(await ring.ended, { status: 1, stderr: '' })
  t.equal(ring.all('USAGE').length, 3)
  t.match(ring.all('ERROR')[0], ['ERROR', 'this process has spent 6.0000 USD, and 5 is the limit: see --max-cost', 'code', 'max_cost'])
  t.same(ring.all('STOP'), [
    ['STOP', 'max_cost'],
    ['STOP', 'max_cost'],
  ])
})

t.test('what sub-agents use counts, once', async (t) => {
  const env = config(t, { m: { input: 2, output: 10, cache_read: 1 } })
  const answer = (name: string, id: string) => [[...usage('0', '0', '5000000', '0'), 'kind', 'sub_agent'], ...ok(name, id)]
  const ring = new Ring(t, MODEL, { args: ['--max-cost', '7'], env, tools: ['Do'], answer })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 1, stderr: '' })
  t.equal(ring.all('USAGE').length, 1)
  t.match(ring.all('ERROR'), [['ERROR', /spent 7\.0000 USD/]])
})

t.test('a price that nobody knows, or that is none, and an amount that is none: one line, and nothing is sent', async (t) => {
  for (const [cost, prices, status, stderr] of [
    ['1', {}, 78, /the price of the model "m" is not known: .*"prices": \{"m": \{"input": 2, "output": 10\}\}/],
    ['1', { m: 3 }, 78, /prices\.m is not an object/],
    ['1', { m: { input: 'x', output: 1 } }, 78, /prices\.m\.input: expected a number .*"x"/],
    ['much', { m: { input: 1, output: 1 } }, 64, /--max-cost: expected an amount in USD, found "much"/],
    ['-1', { m: { input: 1, output: 1 } }, 64, /expected an amount/],
  ] as const) {
    const ring = new Ring(t, MODEL, { args: [`--max-cost=${cost}`], env: config(t, prices) })
    t.match(await ring.ended, { status, stderr })
    t.equal(ring.stderr.split('\n').length, 2)
    t.same(ring.sent, [])
  }
})

t.test('prices by name: the longest name, with a date or latest behind it', async (t) => {
  process.env.AGENTPIPE_CONFIG = `${t.testdir({ 'config.json': '{}' })}/config.json`
  t.match(priceOf('claude-sonnet-5-5'), { input: 2, output: 10, cacheRead: 0.1, cacheCreation: 2.5 })
  t.match(priceOf('claude-opus-4-5-20251101'), { input: 5 })
  t.match(priceOf('claude-opus-4-20250514'), { input: 15 })
  t.match(priceOf('gpt-5-mini-2025-08-07'), { input: 0.25 })
  for (const other of ['gpt-5-pro', 'claude-opus-4-9', '', '__proto__', 'llama3']) t.equal(priceOf(other), undefined, other)
})
