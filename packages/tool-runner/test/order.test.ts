import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually, frames, shell } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner } from './support/live-runner.js'
import { leftOf, running } from './support/processes.js'
import { Place, resultsOf } from './support/tools.js'

const HELLO = ['HELLO', '1', 's1']

t.test('calls that write run in order, and each finds what the ones before have done', async (t) => {
  const place = new Place(t)
  const results = await place.call([
    ['Bash', { command: 'sleep 0.1; echo one >f' }],
    ['Read', { path: 'f' }],
    ['Edit', { path: 'f', old_string: 'one', new_string: 'two' }],
    ['Read', { path: 'f' }],
    ['Bash', { command: 'cat f; rm f' }],
    ['Read', { path: 'f' }],
  ])
  t.match(results, [
    { status: 'ok' },
    { output: '     1\tone\n' },
    { status: 'ok' },
    { output: '     1\ttwo\n' },
    { output: 'two\n' },
    { status: 'error', output: 'f: no such file or directory' },
  ])
})

t.test('a hundred reads side by side', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'f'), 'text\n')
  const results = await place.call(Array.from({ length: 100 }, () => ['Read', { path: 'f' }]))
  t.equal(results.filter(({ output }) => output === '     1\ttext\n').length, 100)
})

t.test('INTERRUPT cancels what runs and what waits, and the runner goes on; that of one call leaves the others alone', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place)
  runner.send(...HELLO)
  runner.call('Bash', 'c1', { command: `echo printed; bash -c 'trap "" TERM; sleep 71.375'` })
  runner.call('Bash', 'c2', { command: 'echo never' })
  await runner.untilPrinted('c1', 'printed')
  runner.send('INTERRUPT', 'n1')
  t.match(await runner.result('c1'), { status: 'cancelled', output: 'printed\n[cancelled]' })
  t.match(await runner.result('c2'), { status: 'cancelled', output: 'cancelled before it began' })
  t.ok(runner.types().includes('INTERRUPT'), 'it is passed on')
  t.same(await leftOf('sleep 71.375'), [])
  runner.call('Bash', 'c3', { command: 'echo again' })
  t.match(await runner.result('c3'), { status: 'ok', output: 'again\n' })

  runner.call('Bash', 'd1', { command: 'echo one; until [ -e go ]; do sleep 0.05; done; echo end' })
  runner.call('Bash', 'd2', { command: 'echo never' })
  runner.call('Bash', 'd3', { command: 'echo three' })
  await runner.untilPrinted('d1', 'one')
  runner.send('INTERRUPT', 'm1', 'call', 'd2')
  t.match(await runner.result('d2'), { status: 'cancelled' })
  writeFileSync(join(place.workspace, 'go'), '')
  t.match(await runner.result('d1'), { status: 'ok', output: 'one\nend\n' })
  t.match(await runner.result('d3'), { status: 'ok' })
  runner.call('Bash', 'd4', { command: 'echo four; sleep 72.375' })
  await runner.untilPrinted('d4', 'four')
  runner.send('INTERRUPT', 'm2', 'call', 'd4')
  t.match(await runner.result('d4'), { status: 'cancelled', output: 'four\n[cancelled]' })
  runner.send('STOP', 'interrupted')
  runner.endInput()
  t.same(await runner.ended, [0, null])
})

t.test('case 15: SIGINT cancels, and the runner stays; SIGTERM ends everything', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place)
  runner.send(...HELLO)
  runner.call('Bash', 'c1', { command: 'echo one; sleep 73.375' })
  await runner.untilPrinted('c1', 'one')
  runner.process.kill('SIGINT')
  t.match(await runner.result('c1'), { status: 'cancelled', output: /^one\n(Terminated\n)?\[cancelled\]$/ })
  runner.call('Bash', 'c2', { command: 'sleep 74.375 & echo left' })
  t.match(await runner.result('c2'), { status: 'ok' })
  runner.call('Bash', 'c3', { command: `echo three; bash -c 'trap "" TERM; sleep 75.375'` })
  await runner.untilPrinted('c3', 'three')
  runner.process.kill('SIGTERM')
  t.same(await runner.ended, [null, 'SIGTERM'])
  t.match(await runner.result('c3'), { status: 'cancelled', output: 'three\n[cancelled]' })
  for (const line of ['sleep 73.375', 'sleep 74.375', 'sleep 75.375']) t.same(await leftOf(line), [])
})

t.test('kill -9 of the runner ends its commands, and what they left behind', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place)
  runner.call('Bash', 'c1', { command: 'sleep 76.375 & echo left' })
  runner.call('Bash', 'c2', { command: `echo two; bash -c 'trap "" TERM; sleep 77.375'` })
  await runner.untilPrinted('c2', 'two')
  t.ok(await eventually(() => running('sleep 76.375').length === 1 && running('sleep 77.375').length === 1))
  runner.process.kill('SIGKILL')
  await runner.ended
  for (const line of ['sleep 76.375', 'sleep 77.375']) t.same(await leftOf(line), [])
})

t.test('a reader that goes away ends what runs, without a word', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'calls'), frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"sleep 78.375 & while :; do echo x; sleep 0.05; done"}']))
  const { stdout, stderr } = await shell('(tool-runner <calls; echo "status $?" >&2) | head -c 1 >/dev/null', [], {
    cwd: place.workspace,
    env: place.environment,
  })
  t.match(stderr, /^status (0|141)\n$/)
  t.equal(stdout.length, 0)
  t.same(await leftOf('sleep 78.375'), [])
})

t.test('a slow reader holds the command back, not the memory', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place, ['--max-output', '12m'])
  runner.process.stdout?.pause()
  runner.call('Bash', 'c1', { command: "head -c 8000000 /dev/zero | tr '\\0' '\\172'" })
  t.ok(await eventually(() => running('tr \\0 \\172').length === 1, 60_000))
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.equal(running('tr \\0 \\172').length, 1, 'it waits')
  runner.process.stdout?.resume()
  t.match((await runner.result('c1')).output.length, 8_000_000)
  runner.endInput()
  t.same(await runner.ended, [0, null])
})

t.test('nothing is left in the temporary directory but outputs that results name', async (t) => {
  const place = new Place(t)
  const left = async () => (await shell('find . -type f -o -type p -o -type d -name "agentpipe-*"', [], { cwd: place.temporary })).stdout.toString()
  const runner = new LiveRunner(t, place, ['--max-output', '100'])
  runner.call('Bash', 'c1', { command: 'echo short; sleep 0.1 &' })
  runner.call('Bash', 'c2', { command: 'seq 1000' })
  const { full_output = '' } = await runner.result('c2')
  runner.endInput()
  await runner.ended
  t.match(await left(), /^\.\/agentpipe-\w+\n\.\/agentpipe-\w+\/output-\d+\n$/)
  rmSync(dirname(full_output), { recursive: true })
  await place.callOne('Bash', { command: 'echo short; sleep 0.1 &' }, ['--max-output', '100'])
  t.equal(await left(), '')
})

t.test('more calls than anybody counts keep their order', async (t) => {
  const place = new Place(t)
  const calls = Array.from({ length: 20 }, (_, index) => ['TOOL_CALL', 'Bash', `c${index}`, `{"command":"echo ${index} >>log"}`])
  const { stdout } = await place.run(frames(...calls))
  t.same(
    resultsOf(stdout).map(({ id }) => id),
    calls.map(([, , id]) => id),
  )
  t.equal(readFileSync(join(place.workspace, 'log'), 'utf8'), `${calls.map((_, index) => index).join('\n')}\n`)
})
