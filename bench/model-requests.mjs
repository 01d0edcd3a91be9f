// What agentpipe adds to the time of a model: the start until the first request, the gap between two requests with a call of Bash between them, and
// a long session that goes on. The server is on this machine and answers at once.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, printTable } from './table.mjs'

const ROUNDS = 10
const CALLS = 30
const bin = new URL('../dist/bin/', import.meta.url).pathname
const directory = mkdtempSync(join(tmpdir(), 'agentpipe-bench-'))
const now = () => Number(process.hrtime.bigint()) / 1e6

/** When requests came, and when they were answered. */
let asked = []
let answered = []
/** How many answers call a tool before one doesn't. */
let calls = 0

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
function response() {
  const block = calls > 0 ? { type: 'tool_use', id: `t${calls}`, name: 'Bash', input: {} } : { type: 'text', text: '' }
  const delta = calls > 0 ? { type: 'input_json_delta', partial_json: '{"command":"true"}' } : { type: 'text_delta', text: 'Done.' }
  const events = [
    { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: calls > 0 ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  if (calls > 0) calls--
  return events.map(event).join('')
}

const server = createServer((request, answer) => {
  asked.push(now())
  request.resume().on('end', () => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.end(response(), () => answered.push(now()))
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`
const env = {
  ...process.env,
  PATH: `${bin}:${process.env.PATH}`,
  HOME: directory,
  XDG_STATE_HOME: directory,
  ANTHROPIC_API_KEY: 'none',
  ANTHROPIC_BASE_URL: url,
  AGENTPIPE_CONFIG: '/dev/null',
}

/** Milliseconds from the start of a command to the first request that it makes. */
async function untilAsked(command, args, input = '/dev/null') {
  asked = []
  const start = now()
  const child = spawn(command, args, { cwd: directory, env, stdio: [openSync(input, 'r'), 'ignore', 'inherit'] })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${command} ended with ${status}`)
  return asked[0] - start
}

async function medianOf(rounds, measure) {
  const times = []
  for (let round = 0; round < rounds; round++) times.push(await measure())
  return median(times)
}

const frame = (...fields) => `*${fields.length}\r\n${fields.map((field) => `$${Buffer.byteLength(field)}\r\n${field}\r\n`).join('')}`
writeFileSync(join(directory, 'prompt'), frame('USER_INPUT', 'hi'))

const bare = await medianOf(ROUNDS, () => untilAsked(process.execPath, ['-e', `fetch('${url}', { method: 'POST', body: '{}' }).then((a) => a.text())`]))
const loop = await medianOf(ROUNDS, () => untilAsked(join(bin, 'agent-loop'), ['--model', 'm', '--no-tools'], join(directory, 'prompt')))
const whole = await medianOf(ROUNDS, () => untilAsked(join(bin, 'agentpipe'), ['--model', 'm', 'hi']))

calls = CALLS
asked = []
answered = []
await untilAsked(join(bin, 'agentpipe'), ['--model', 'm', 'hi'])
const gap = median(asked.slice(1).map((time, index) => time - answered[index]))
const shell = await medianOf(CALLS, async () => {
  const start = now()
  spawnSync('bash', ['-c', 'true'])
  return now() - start
})

/** 50 MB of a session in which half is what tools answered. */
const history = join(directory, 'history')
const turn = (n) =>
  [
    ['USER_MESSAGE', `prompt ${n}`],
    ['TEXT', 'word '.repeat(4000)],
    ['TOOL_CALL', 'Bash', `c${n}`, `{"command":"true ${n}"}`],
    ['USAGE', '10', '5', '0', '0', 'model', 'm'],
    ['TOOL_RESULT', `c${n}`, 'Bash', 'line of output\n'.repeat(2000), 'status', 'ok'],
    ['TEXT', 'Done.'],
    ['USAGE', '10', '5', '0', '0', 'model', 'm'],
    ['STOP', 'end_turn'],
  ]
    .map((fields) => frame('HISTORY', ...fields))
    .join('')
writeFileSync(history, `${Array.from({ length: 1000 }, (_, n) => turn(n)).join('')}${frame('USER_INPUT', 'go on')}`)
const args = ['--model', 'm', '--no-tools', '--max-context', '100000000', '--compact-at', '0']
const resumed = await medianOf(3, () => untilAsked(join(bin, 'agent-loop'), args, history))
const megabytes = (statSync(history).size / 1e6).toFixed(0)

server.close()
rmSync(directory, { recursive: true, force: true })
printTable(`Until the first request to a model, medians of ${ROUNDS}`, [
  ['', 'ms', 'of node -e fetch'],
  ['node -e fetch', bare.toFixed(0), '1.00x'],
  ['agent-loop', loop.toFixed(0), `${(loop / bare).toFixed(2)}x`],
  ['agentpipe, the whole ring', whole.toFixed(0), `${(whole / bare).toFixed(2)}x`],
  [`agent-loop, ${megabytes} MB of history`, resumed.toFixed(0), `${(resumed / bare).toFixed(2)}x`],
])
printTable(`From the end of an answer to the next request, with \`true\` run by Bash, median of ${CALLS}`, [
  ['', 'ms', 'of bash -c true'],
  ['bash -c true', shell.toFixed(1), '1.00x'],
  ['agentpipe', gap.toFixed(1), `${(gap / shell).toFixed(2)}x`],
])
