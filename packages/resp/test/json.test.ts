import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, fieldsOf, fixture, frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { frameOf, lineProblem } from '../src/unjson.js'
import { Started } from './support/started.js'

const FIXTURES = [
  fixture('seed-writer', 'all-types.resp'),
  fixture('seed-writer', 'deltas.resp'),
  fixture('seed-writer', 'large-result.resp'),
  fixture('redis-client', 'commands.resp'),
]

t.test('what was captured comes back from its lines', async (t) => {
  const bytes = Buffer.concat(FIXTURES.map((path) => readFileSync(path)))
  const cwd = t.testdir()
  const { stdout, status, stderr } = await shell('resp json | tee lines | resp unjson', [], { input: bytes, cwd })
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.ok(stdout.equals(bytes))
  const lines = readFileSync(join(cwd, 'lines'), 'utf8').trimEnd().split('\n')
  t.equal(lines.length, fieldsOf(bytes).length)
  for (const line of lines) t.type(JSON.parse(line).type, 'string')
})

t.test('octets, unknown types, odd attributes, 8 MiB', async (t) => {
  const input = frames(
    ['MY_OWN', Buffer.from([0, 0xff, 0x0d, 0x0a]), 'x'],
    ['TOOL_RESULT', 'c1', 'Bash', Buffer.alloc(8 * 1024 * 1024, 'é\n'), 'own', 'x', 'status', 'ok', 'odd'],
    ['TOOL_CALL', 'X', 'c2', '{"__proto__":{"a":1}}', '__proto__', '{"a":1}'],
    ['TOOL_CALL', 'X'],
  )
  t.ok((await shell('resp json | resp unjson', [], { input })).stdout.equals(input))
})

t.test('unjson takes lines of the event log, other line ends, blank lines, and a last line without LF', async (t) => {
  const input = '{"v":1,"seq":1,"ts":"x","type":"text","text":"a"}\r\n\n  \n{ "text" : "b", "type" : "text" }'
  t.match(await run('resp', ['unjson'], { input }), { status: 0, stderr: '', stdout: frames(['TEXT', 'a'], ['TEXT', 'b']) })
  t.match(await run('resp', ['unjson']), { status: 0, stderr: '', stdout: Buffer.alloc(0) })
})

t.test('unjson: a wrong line is named; the frames before it are written, none after it', async (t) => {
  const good = '{"type":"text","text":"a"}\n'
  const wrong: [line: string | Buffer, problem: RegExp][] = [
    ['hello', /not JSON: unexpected token/],
    ['{"type":"text"', /not JSON/],
    ['{"type":"text","text":"a"}{"type":"stop"}', /not JSON/],
    ['1', /expected a JSON object/],
    ['null', /expected a JSON object/],
    ['[]', /expected a JSON object/],
    ['{"type":1}', /expected a member "type"/],
    ['{"type":"a b"}', /no frame type/],
    ['{"type":"my_own","extra":[1]}', /"extra"/],
    [Buffer.from([0x22, 0xff, 0x22]), /not UTF-8/],
    ['\ufeff{"type":"stop"}', /not JSON/],
    ['\x1b]0;title\x07', /not JSON/],
  ]
  for (const [line, problem] of wrong) t.match(problemOf(line), problem)
  for (const [line, problem] of wrong.slice(-3)) {
    const ended = await run('resp', ['unjson'], { input: Buffer.concat([Buffer.from(`${good}\n`), Buffer.from(line), Buffer.from(`\n${good}`)]) })
    t.match(ended, { status: 65, stdout: frames(['TEXT', 'a']) }, String(line))
    t.match(ended.stderr, /^resp: line 3: [\x20-\x7e]+\n$/, 'one line, escaped')
    t.match(ended.stderr, problem)
  }
})

t.test('a line is a frame, and a frame a line, as soon as it is whole', async (t) => {
  const unjson = new Started(['unjson'])
  await unjson.drip(Buffer.from('{"type":"text","text":"é漢😀"}\n{"type":"stop",'))
  t.ok(await eventually(() => unjson.output.equals(frames(['TEXT', 'é漢😀']))))
  await unjson.drip(Buffer.from('"reason":"end_turn"}'))
  unjson.process.stdin.end()
  t.equal(await unjson.ended, 0)
  t.same(unjson.output, frames(['TEXT', 'é漢😀'], ['STOP', 'end_turn']))
})

t.test('unjson: what would be left out is refused', async (t) => {
  for (const [line, said] of [
    ['{"type":"tool_call","name":"B","tool_use_id":"c"}', 'expected the member "input" in "tool_call"'],
    ['{"type":"stop","Reason":"B"}', 'there is no member "Reason" in "stop": see messages(7)'],
    ['{"type":"stop"}', 'expected the member "reason" in "stop"'],
    ['{"type":"foo","extra":"x"}', 'expected an array in "extra"'],
    ['{"type":"foo","x":"y"}', 'there is no member "x" in "foo": a type that is not in messages(7) has all its fields in "extra"'],
    ['{"type":"text","text_base64":"!!!"}', 'expected base64 in "text_base64"'],
    ['{"type":"foo","extra":[{"base64":"a"}]}', 'expected base64 in "extra"'],
    [`{"type":"tool_call","name":"B","tool_use_id":"c","input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'nested too deeply'],
  ] as const) {
    t.equal(problemOf(line), `line 2: ${said}`, line.slice(0, 80))
  }
})

/** What is said of a second line. */
function problemOf(line: string | Buffer): string {
  try {
    frameOf(Buffer.from(line as string))
    return 'nothing'
  } catch (error) {
    return lineProblem(2, error)
  }
}
