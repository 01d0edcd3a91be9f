import { copyFileSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FieldValue } from '@agentpipe/frame'
import { fieldsOf, fixture, frames, root, run } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logged, logPath } from './support/agent.js'
import { bash, capture, type Response, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const runner = join(root, 'scripts/examples/tool-runner.bash')
const redact = join(root, 'scripts/examples/redact.py')
const noPython = (await run('python3', ['--version'])).status !== 0 && 'no Python here'
const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'

t.test('tool-runner.bash fixes the failing test in tool-runner’s place', async (t) => {
  const workspace = new Workspace(t, readFileSync(fixture('demo/in.resp')))
  cpSync(fixture('sample-project'), workspace.directory, { recursive: true })
  const ended = await agent(workspace, [`--stage=tool-runner='${runner}'`, '--on-divergence=ignore', 'fix the failing test'])
  t.match(ended, { status: 0, stderr: '' })
  t.match(readFileSync(workspace.path('src/sum.js'), 'utf8'), 'total + price')
  const results = logged(workspace).filter(({ type }) => type === 'tool_result')
  t.same(
    results.map(({ name, status }) => [name, status]),
    [
      ['Bash', 'error'],
      ['Read', 'ok'],
      ['Read', 'ok'],
      ['Edit', 'ok'],
      ['Bash', 'ok'],
    ],
  )
  t.same(await leftovers(workspace), [])
})

t.test('tool-runner.bash behind tool-runner: the first definition of a tool wins', async (t) => {
  const workspace = new Workspace(t, capture(bash('echo once'), { text: 'Done.' }))
  const ended = await agent(workspace, [`--after=tool-runner='${runner}'`, 'go'])
  t.equal(ended.status, 0)
  t.equal(logged(workspace).filter(({ type }) => type === 'tool_result').length, 1)
})

t.test('what calls of tool-runner.bash give', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  copyFileSync(fixture('sample-project/src/sum.js'), workspace.path('a=b'))
  const edit = (path: string, from: string, to: string) => ['Edit', 'path', path, 'old_string', from, 'new_string', to]
  const given = async (...calls: string[][]) => (await resultsOf(workspace, calls)).map(([, , , output, , status]) => [status, output])
  const commands = [
    'echo out; echo err >&2; exit 3',
    // Its stdin is empty.
    'cat; printenv LC_ALL || echo unset',
    // Longer than an argument may be.
    `: ${'x'.repeat(200_000)}`,
    'printf "a\\0b"',
    // What it leaves behind is not waited for.
    'sleep 900 & echo at once',
    'echo x >>ran',
  ]
  t.same(await given(...commands.map((command) => ['Bash', 'command', command]), ['Bash', 'input', 'x'], ['Bash', 'command', 'sleep 900', 'timeout', '0.2']), [
    ['error', 'out\nerr\n'],
    ['ok', 'unset\n'],
    ['ok', ''],
    ['ok', 'ab'],
    ['ok', 'at once\n'],
    ['ok', ''],
    ['error', 'there is no command\n'],
    ['timeout', ''],
  ])
  t.equal(readFileSync(workspace.path('ran'), 'utf8'), 'x\n', 'the command of the call before is not run again')
  const files = await given(
    ['Read', 'path', 'a=b', 'offset', '2', 'limit', '1'],
    ['Read', 'path', 'none'],
    edit('a=b', 'total - price', 'a\\1&é$x'),
    edit('a=b', 'no such text', ''),
    edit('a=b', 'price', ''),
  )
  t.match(files, [
    ['ok', 'export function sum(prices) {\n'],
    ['error', /none/],
    ['ok', /^edited a=b\n$/],
    ['error', 'old_string must stand in a=b once'],
    ['error', 'old_string must stand in a=b once'],
  ])
  t.match(readFileSync(workspace.path('a=b'), 'utf8'), '=> a\\1&é$x, 0)')
})

/** The results of tool-runner.bash, each as its fields, for calls given as the tool's name and the members of its input. */
async function resultsOf(workspace: Workspace, calls: readonly string[][]): Promise<string[][]> {
  const sent = calls.map(([name = '', ...members], index) => ['TOOL_CALL', name, `c${index}`, '{}', ...members])
  const input = frames(['HELLO', '1', 's'], ...sent, ['STOP', 'end_turn'])
  const ended = await run(runner, [], inside(workspace, { input }))
  t.match(ended, { status: 0, stderr: '' })
  return fieldsOf(ended.stdout).filter(([type]) => type === 'TOOL_RESULT')
}

t.test('tool-runner.bash passes on what is not its own, and a call before it runs it', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const input = frames(
    ['TEXT', 'é\r\n'],
    ['HELLO', '1', 's'],
    ['TOOL_CALL', 'Other', 'c0', '{}'],
    ['TOOL_CALL', 'Bash', 'c1', '{}', 'command', 'echo x'],
    ['STOP', 'end_turn'],
  )
  const out = fieldsOf((await run(runner, [], inside(workspace, { input }))).stdout)
  t.same(
    out.map(([type]) => type).filter((type) => type !== 'STOP'),
    ['TEXT', 'TOOL_DEF', 'TOOL_DEF', 'TOOL_DEF', 'HELLO', 'TOOL_CALL', 'TOOL_CALL', 'TOOL_RESULT'],
  )
})

t.test('an interrupt ends the command that tool-runner.bash runs, and those that wait', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const call = (id: string, command: string) => ['TOOL_CALL', 'Bash', id, '{}', 'command', command]
  const input = frames(['HELLO', '1', 's'], call('c1', 'sleep 900'), call('c2', 'touch ran'), ['INTERRUPT', 'n'], ['STOP', 'interrupted'])
  const ended = await run(runner, [], inside(workspace, { input }))
  const results = fieldsOf(ended.stdout).filter(([type]) => type === 'TOOL_RESULT')
  t.same(
    results.map(([, id, , , , status]) => [id, status]),
    [
      ['c1', 'cancelled'],
      ['c2', 'cancelled'],
    ],
  )
  t.same(await leftovers(workspace), [])
})

t.test('the head is gone in mid-turn: tool-runner.bash ends what runs, status 69', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const ended = await run(runner, [], inside(workspace, { input: frames(['HELLO', '1', 's'], ['TOOL_CALL', 'Bash', 'c1', '{}', 'command', 'sleep 900']) }))
  t.equal(ended.status, 69)
  t.same(await leftovers(workspace), [])
  t.match(await run(runner, [], { input: 'hello' }), { status: 65, stderr: /tool-runner.bash: expected/ })
})

t.test('redact.py before event-store: the secret is in neither log nor model nor screen', { skip: noPython }, async (t) => {
  const said: Response = { text: ['The key ', 'is sk-ant-api03-abcdef', 'ghijklmnopqrstuvwxyz0123456789', 'ABCDEFG. Keep it.'] }
  const workspace = new Workspace(t, capture({ ...bash(`echo '${key}'; echo AKIA''ABCDEFGHIJKLMNOP`), ...said }, said))
  const ended = await agent(workspace, [`--before=event-store='${redact}'`, '--record', 'all.resp', 'show it'])
  t.match(ended, { status: 0, stderr: '' })
  for (const [where, text] of Object.entries({
    screen: ended.stdout.toString(),
    log: readFileSync(logPath(workspace), 'utf8'),
    'what comes round to the model': readFileSync(workspace.path('all.resp'), 'latin1'),
  })) {
    t.notMatch(text, /sk-ant|qrstuv|AKIAABCD/, where)
    t.match(text, '[redacted]', where)
  }
  t.match(ended.stdout.toString(), 'The key is [redacted]. Keep it.')
})

t.test('redact.py masks what it is told to, and passes all else byte for byte', { skip: noPython }, async (t) => {
  const masked = async (frame: FieldValue[], ...patterns: string[]) => fieldsOf((await run(redact, patterns, { input: frames(frame) })).stdout)
  t.same(await masked(['TOOL_RESULT', 'c1', 'Bash', 'sesame-12 x', 'summary', 'sesame-1'], 'sesame-[0-9]+'), [
    ['TOOL_RESULT', 'c1', 'Bash', '[redacted] x', 'summary', '[redacted]'],
  ])
  t.same(await masked(['SESAME', 'SESAME'], 'SESAME'), [['SESAME', '[redacted]']], 'a type is no secret')
  t.same(await masked(['TOOL_CALL', 'Bash', 'c1', `{"command":"echo ${key}"}`]), [['TOOL_CALL', 'Bash', 'c1', '{"command":"echo [redacted]"}']])
  t.match(await run(redact, ['(']), { status: 64, stderr: /redact.py: not a regular expression/ })
  const bytes = frames(['THINKING', 'x '], ['THINKING', '', 'signature', 's'], ['TEXT', ''], ['TOOL_RESULT', 'c1', 'Bash', Buffer.from([0, 0xff, 0x0d, 0x0a])])
  t.same((await run(redact, [], { input: bytes })).stdout, bytes)
  const large = frames(['TOOL_RESULT', 'c1', 'Bash', Buffer.alloc(20 * 1024 * 1024, 'a b\n')])
  t.ok((await run(redact, [], { input: large })).stdout.equals(large))
})

t.test('redact.py: input that comes a byte at a time', { skip: noPython }, async (t) => {
  const bytes = frames(['TEXT', 'é '], ['TEXT', ''], ['TEXT', key], ['HELLO', '1', 's'])
  const drip = 'import sys, time\nfor byte in sys.stdin.buffer.read(): sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(0.002)'
  const ended = await run('bash', ['-c', 'python3 -c "$1" | "$0"', redact, drip], { input: bytes })
  t.same(fieldsOf(ended.stdout), [
    ['TEXT', 'é '],
    ['TEXT', ''],
    ['TEXT', '[redacted]'],
    ['HELLO', '1', 's'],
  ])
})

t.test('redact.py: malformed input, a reader that has gone', { skip: noPython }, async (t) => {
  const before = frames(['TEXT', 'x '])
  for (const bytes of ['hello', '*1\r\n', '*1\r\n$1\r\nAB\r\n', '*01\r\n', '*0\r\n', '*1\n$1\nA\n', '*2\r\n$4\r\nTEXT\r\n$5\r\nab']) {
    const ended = await run(redact, [], { input: Buffer.concat([before, Buffer.from(bytes)]) })
    t.equal(ended.status, 65, JSON.stringify(bytes))
    t.match(ended.stderr, /^redact.py: .* byte \d+.*\n$/)
    t.same(ended.stdout, before)
  }
  const ended = await run('bash', ['-c', '"$0" | head -c 10 >/dev/null; printf "%s\\n" "$PIPESTATUS"', redact], {
    input: Buffer.concat(Array.from({ length: 100_000 }, () => before)),
  })
  t.match(ended, { stderr: '' })
  t.equal(ended.stdout.toString(), '0\n')
})

t.test('redact.py: a secret in two pieces of an output, with something of another call in between', { skip: noPython }, async (t) => {
  const input = frames(
    ['TOOL_OUTPUT', 'c1', 'key sk-abcdefghijkl'],
    ['TOOL_RESULT', 'c2', 'Bash', 'x'],
    ['TEXT', 'y '],
    ['TOOL_OUTPUT', 'c1', 'mnopqrstuvwxyz0123'],
    ['TOOL_RESULT', 'c1', 'Bash', 'z'],
  )
  t.same(fieldsOf((await run(redact, [], { input })).stdout), [
    ['TOOL_OUTPUT', 'c1', 'key '],
    ['TOOL_RESULT', 'c2', 'Bash', 'x'],
    ['TEXT', 'y '],
    ['TOOL_OUTPUT', 'c1', '[redacted]'],
    ['TOOL_RESULT', 'c1', 'Bash', 'z'],
  ])
})
