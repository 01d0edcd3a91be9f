import { readFileSync } from 'node:fs'
import t from 'tap'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { Ring } from './support/ring.js'

/** `make soak` asks for more. */
const TURNS = Number(process.env.MEMORY_TURNS ?? 100)
/** What the memory may grow by from the second third of the turns to the last, in MiB. In the first one Node takes what it needs, and gives it back now and then. */
const GROWTH = 12

const THINKING = { thinking: 'x'.repeat(2000), signature: 'c2ln' }

t.test(`${TURNS} turns, each forgotten: memory does not grow`, async (t) => {
  const server = await AnthropicServer.start(t)
  const answer = (name: string, id: string) => [['TOOL_RESULT', id, name, 'y'.repeat(20_000)]]
  const ring = new Ring(t, undefined, { env: { ...server.env, NODE_OPTIONS: '--max-semi-space-size=1' }, tools: ['Do'], answer })
  const memory: number[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    server.mock.restart(says(THINKING, { id: `t${turn}`, name: 'Do', input: `{"n":"${'z'.repeat(5000)}"}` }), says({ text: 'Done.' }))
    ring.sent.length = 0
    ring.send(['CONTROL', 'clear', ''], ['USER_INPUT', `turn ${turn}`])
    t.same(await ring.until('STOP'), ['STOP', 'end_turn'])
    server.mock.requests.length = 0
    memory.push(residentMiB(ring.pid))
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  const third = Math.floor(TURNS / 3)
  const grown = median(memory.slice(-third)) - median(memory.slice(third, third * 2))
  t.ok(grown < GROWTH, `it grew by ${grown.toFixed(1)} MiB to ${memory.at(-1)?.toFixed(0)} MiB`)
})

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
}
