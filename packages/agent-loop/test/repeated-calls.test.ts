import { frames } from '@agentpipe/testing'
import t from 'tap'
import { Repeats } from '../src/repeats.js'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { USAGE } from './support/model.js'
import { Ring } from './support/ring.js'

const failing = { name: 'Do', input: '{}', output: 'no such file', failed: true }
const working = { name: 'Look', input: '{}', output: 'all of it', failed: false }

/** In which responses the model is told something, and in which the turn is ended, counted from 1. */
function verdicts(...responses: (typeof failing)[][]): string[] {
  const repeats = new Repeats()
  return responses.flatMap((response, at) => {
    try {
      return repeats.take(response) === undefined ? [] : [`told ${at + 1}`]
    } catch {
      return [`ended ${at + 1}`]
    }
  })
}

const times = (count: number, ...response: (typeof failing)[]) => Array.from({ length: count }, () => response)

t.test('a call that fails in the same way is told of at the third time, and ends the turn at the sixth', async (t) => {
  t.same(verdicts(...times(6, failing)), ['told 3', 'ended 6'])
  t.same(verdicts(...times(6, failing, failing, failing)), ['told 3', 'ended 6'], 'side by side they count once')
  t.same(verdicts(...times(6, failing, working)), ['told 3', 'ended 6'])
  t.same(verdicts(...times(10, working)), [], 'what works may be asked again')
})

t.test('going in a circle is no progress; something new is', async (t) => {
  t.same(verdicts(...Array.from({ length: 6 }, () => [[failing], [working]]).flat()), ['told 5', 'ended 11'])
  const edits = Array.from({ length: 8 }, (_, n) => [[failing], [{ ...working, name: 'Edit', input: `${n}` }]]).flat()
  t.same(verdicts(...edits), [])
  t.same(verdicts(...Array.from({ length: 8 }, (_, n) => [{ ...failing, output: `${n}` }])), [])
  t.same(verdicts(...Array.from({ length: 8 }, (_, n) => [{ ...failing, input: `${n}` }])), [])
})

t.test('case 35: a call that cannot work, for ever', async (t) => {
  const list = [
    ['bash_exec', '{}'],
    ['Do', '{}'],
    ['Do', '{"command":["ls"]}'],
    ['Do', '{"command":null}'],
    ['Do', '[]'],
    ['Do', 'null'],
    ['a name with spaces', '{}'],
    ['x'.repeat(300), '{}'],
    ['__proto__', '{}'],
  ] as const
  const turn = ([name, input]: (typeof list)[number]) => [
    ...Array.from({ length: 9 }, () => [['TOOL_CALL', name, 'c', input], USAGE]).flat(),
    ['STOP', 'end_turn'],
  ]
  const answer = (tool: string, id: string) => [['TOOL_RESULT', id, tool, 'expected a string: command', 'status', 'error']]
  const ring = new Ring(t, frames(...list.flatMap(turn)), { tools: ['Do'], answer })
  for (const [name, input] of list) {
    const what = `${name.slice(0, 20)} ${input}`
    const sent = await ring.turn('go')
    const said = ring.all('ERROR', sent).filter(([, , , code]) => code === 'repeated_calls')
    const expected = [
      ['ERROR', /called 3 times/],
      ['ERROR', /the turn was ended: .* 6 times/],
    ]
    t.match(said, expected, what)
    t.equal(ring.all('USAGE', sent).length, 6, what)
    t.same(sent.at(-1), ['STOP', 'error'], what)
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 1, stderr: '' })
})

t.test('the model is told behind the result of the third call, and the session goes on', async (t) => {
  const call = (id: string) => says({ id, name: 'nothing', input: '{}' })
  const server = await AnthropicServer.start(t, call('t1'), call('t2'), call('t3'), says({ text: 'I give up.' }))
  const ring = new Ring(t, undefined, { env: server.env, tools: ['Do'] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  t.match(server.asked[3]?.at(-1)?.content, [{ tool_use_id: 't3', is_error: true }, { text: /same call again gives the same/ }])
})
