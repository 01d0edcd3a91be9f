import { existsSync } from 'node:fs'
import { frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { turnsOf } from '../src/providers/capture.js'
import { divergences } from '../src/providers/divergence.js'
import { AnthropicServer, says } from './support/anthropic-server.js'
import { says as captured, STOP, USAGE } from './support/model.js'
import { Ring } from './support/ring.js'

/** A captured turn that calls Do twice and has these results. */
function capture(...results: readonly (readonly string[])[]): Buffer {
  const calls = [
    ['TOOL_CALL', 'Do', 'c1', '{}'],
    ['TOOL_CALL', 'Do', 'c2', '{}'],
  ]
  return frames(['HELLO', '1', 's', 'cwd', '/old/place'], ['USER_MESSAGE', 'go'], ...calls, USAGE, ...results, ['TEXT', 'Done.'], USAGE, STOP)
}

const ok = (id: string, output: string) => ['TOOL_RESULT', id, 'Do', output, 'status', 'ok', 'exit_code', '0']

/** What is said of one call whose result was recorded, and came again, like this. */
function said(recorded: readonly string[], found: { output: string; status?: string; exitCode?: string; fullOutput?: string }): string[] {
  const [response] = turnsOf(capture(['TOOL_RESULT', 'c1', 'Do', ...recorded]))[0] ?? []
  return response === undefined ? ['none'] : divergences(response, [{ name: 'Do', status: 'ok', ...found }], '/new/place')
}

t.test('status, exit code and output are compared, to the first line that differs', async (t) => {
  t.same(said(['a\nb\n'], { output: 'a\nb\n' }), [])
  t.same(said(['a\nb'], { output: 'a\nc' }), ['call 1 (Do): line 2: expected "b", found "c"'])
  t.same(said(['a'], { output: 'a\nb' }), ['call 1 (Do): line 2: expected nothing, found "b"'])
  t.same(said(['a\nb'], { output: 'a' }), ['call 1 (Do): line 2: expected "b", found nothing'])
  t.same(said(['a', 'status', 'ok'], { output: 'a', status: 'error' }), ['call 1 (Do): status: expected "ok", found "error"'])
  t.same(said(['a', 'exit_code', '0'], { output: 'a', exitCode: '1' }), ['call 1 (Do): exit code: expected "0", found "1"'])
  t.same(said(['a'], { output: 'a', exitCode: '0' }), [], 'what was not recorded is not compared')
})

t.test('what is shown is printable, short, and has the place in it', async (t) => {
  t.same(said(['\x1b[31m'], { output: 'a' }), ['call 1 (Do): line 1: expected "\\x1b[31m", found "a"'])
  const [line = ''] = said([`${'x'.repeat(10_000)}y`], { output: `${'x'.repeat(10_000)}z` })
  t.match(line, /expected "\.\.\.x{20}y", found "\.\.\.x{20}z"$/)
  t.ok((said(['x'.repeat(10_000)], { output: 'y'.repeat(10_000) })[0] ?? '').length < 300)
})

t.test('durations may be others', async (t) => {
  t.same(said(['ok (0.9ms)\n3 passed in 1.25s'], { output: 'ok (12.25ms)\n3 passed in 2s' }), [])
  t.same(said(['ok (0.9ms)'], { output: 'no (0.9ms)' }).length, 1)
  t.same(said(['3 files'], { output: '4 files' }).length, 1)
})

t.test('the working directory, and the file with the whole output, may be others', async (t) => {
  t.same(said(['in /old/place/a and /old/place'], { output: 'in /new/place/a and /new/place' }), [])
  t.same(said(['/old/placebo'], { output: '/new/placebo' }).length, 1)
  t.same(said(['see /tmp/1.txt', 'full_output', '/tmp/1.txt'], { output: 'see /tmp/2.txt', fullOutput: '/tmp/2.txt' }), [])
})

for (const [how, status, stderr] of [
  [[], 0, /^agent-loop: tools answer otherwise than in the capture: turn 1, response 1, call 2 \(Do\): line 1: expected "two", found "ok"\n$/],
  [['--on-divergence', 'ignore'], 0, /^$/],
  [['--on-divergence', 'stop'], 1, /^$/],
] as const) {
  t.test(`a tool that answers otherwise: ${how.join(' ') || 'as it comes'}`, async (t) => {
    const ring = new Ring(t, capture(ok('c2', 'two'), ok('c1', 'ok')), { args: how, tools: ['Do'], answer: (_, id) => [ok(id, 'ok')] })
    ring.send(['USER_INPUT', 'go'], ['END'])
    t.match(await ring.ended, { status, stderr })
    t.match(ring.all('ERROR'), status === 0 ? [] : [['ERROR', /call 2 \(Do\)/, 'code', 'diverged']])
    t.same(ring.sent.at(-1), ['STOP', status === 0 ? 'end_turn' : 'error'])
  })
}

t.test('a tool that nobody has any more differs from one that worked', async (t) => {
  const ring = new Ring(t, capture(ok('c1', 'ok'), ok('c2', 'ok')), { args: ['--on-divergence=stop'], tools: ['Other'] })
  ring.send(['USER_INPUT', 'go'], ['END'])
  t.match(await ring.ended, { status: 1 })
  t.match(ring.all('ERROR'), [['ERROR', /call 1 \(Do\): status: expected "ok", found "error"/]])
})

t.test('a recorded session is a regression test with an exit status', async (t) => {
  const model = frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"pwd; cat a.txt"}'], USAGE, ['TEXT', 'Done.'], USAGE, STOP)
  const directory = t.testdir({ old: { 'a.txt': 'one\n' }, new: { 'a.txt': 'one\n' }, 'model.resp': model })
  const agent = (where: string, ...args: string[]) =>
    run('agentpipe', [...args, 'go'], { cwd: `${directory}/${where}`, env: { XDG_STATE_HOME: `${directory}/state` } })
  t.match(await agent('old', '--from=../model.resp', '--record=../session.resp'), { status: 0, stderr: '' })
  t.ok(existsSync(`${directory}/session.resp`))
  t.match(await agent('new', '--from=../session.resp', '--on-divergence=stop'), { status: 0, stderr: '' })
  await shell('echo two >"$1/new/a.txt"', [directory])
  const ended = await agent('new', '--from=../session.resp', '--on-divergence=stop')
  t.match(ended, { status: 1 })
  t.match(ended.stdout.toString().replace(/\s+/g, ' '), /line 2: expected "one", found "two"/)
})

t.test('--until N: the capture plays N turns, then the real provider goes on with what was said', async (t) => {
  const server = await AnthropicServer.start(t, says({ text: 'Third.' }))
  const model = Buffer.concat([capture(ok('c1', 'ok'), ok('c2', 'ok')), captured('Second.'), captured('not said')])
  const ring = new Ring(t, model, {
    args: ['--until', '2', '--provider', 'anthropic', '--model', 'm'],
    env: server.env,
    tools: ['Do'],
    answer: (_, id) => [ok(id, 'ok')],
  })
  ring.send(['USER_INPUT', '1'], ['USER_INPUT', '2'], ['USER_INPUT', '3'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(server.mock.faults, [])
  t.equal(server.asked.length, 1)
  t.match(
    server.asked[0]?.map(({ role, content }) => `${role} ${content.map(({ text, type }) => text ?? type).join()}`),
    ['user 1', 'assistant tool_use,tool_use', 'user tool_result,tool_result', 'assistant Done.', 'user 2', 'assistant Second.', 'user 3'],
  )
  t.equal(
    ring
      .all('TEXT')
      .map(([, text]) => text)
      .join(''),
    'Done.Second.Third.',
  )
})

t.test('--until without what it needs is refused', async (t) => {
  const file = `${t.testdir({ 'model.resp': captured('Hi.') })}/model.resp`
  for (const args of [['--until=1'], ['--until=1', '--from', file, '--provider=replay']]) {
    t.match(await run('agent-loop', args), { status: 64, stderr: /^agent-loop: --until N plays .*\n$/ })
  }
  t.match(await run('agent-loop', ['--until=1', '--from', file]), {
    status: 78,
    stderr: /^agent-loop: --until 1: no model goes on then: give --provider, or set one of .*\n$/,
  })
})
