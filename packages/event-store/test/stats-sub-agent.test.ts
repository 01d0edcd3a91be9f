import { frames } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

t.test('what a sub-agent has used counts once, with its own session or without', async (t) => {
  const store = new Store(t)
  const usage = (tokens: string, ...kind: string[]) => ['USAGE', tokens, '0', '0', '0', ...kind]
  const ended = (session: string) => ['SUB_AGENT_RESULT', session, 'ok', 'done']
  await store.record('main', frames(usage('1'), usage('10', 'kind', 'sub_agent'), ended('main.c1'), usage('100', 'kind', 'sub_agent'), ended('elsewhere')))
  await store.record('main.c1', frames(usage('10')))
  const input = async (...args: string[]) => JSON.parse((await store.read(['stats', '--json', ...args])).stdout.toString()).tokens.input
  t.equal(await input(), 111)
  t.equal(await input('main'), 111)
  t.equal(await input('main.c1'), 10)
})
