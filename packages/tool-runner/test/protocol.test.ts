import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner } from './support/live-runner.js'
import { Place, resultsOf } from './support/tools.js'

const HELLO = ['HELLO', '1', 's1']
const STOP = ['STOP', 'end_turn']
const NAMES = ['Read', 'Write', 'Edit', 'Bash', 'Jobs', 'Glob', 'Grep', 'TodoWrite', 'Skill', 'WebFetch']

t.test('HELLO comes behind the definitions of all tools', async (t) => {
  const place = new Place(t)
  const { stdout, status } = await place.run(frames(HELLO, STOP))
  const all = fieldsOf(stdout)
  t.equal(status, 0)
  t.same(
    all.map(([type]) => type),
    [...NAMES.map(() => 'TOOL_DEF'), 'HELLO', 'STOP'],
  )
  t.same(
    all.filter(([type]) => type === 'TOOL_DEF').map(([, name]) => name),
    NAMES,
  )
  for (const [, name, description, schema = '', ...attributes] of all.slice(0, NAMES.length)) {
    t.ok(description)
    t.match(JSON.parse(schema), { type: 'object', required: Array })
    t.same(attributes, ['read_only', String(['Read', 'Glob', 'Grep', 'TodoWrite', 'Skill', 'WebFetch'].includes(name as string))])
  }
})

t.test('what an earlier runner has defined is neither defined nor taken', async (t) => {
  const place = new Place(t)
  const call = ['TOOL_CALL', 'Bash', 'c1', '{"command":"echo no"}']
  const read = ['TOOL_CALL', 'Read', 'c2', '{"path":"/dev/null"}']
  const { stdout } = await place.run(frames(['TOOL_DEF', 'Bash', 'another', '{}'], HELLO, ['TOOL_DEF', 'Read', 'late', '{}'], call, read, STOP))
  t.same(
    fieldsOf(stdout)
      .filter(([type]) => type === 'TOOL_DEF')
      .map(([, name]) => name),
    ['Bash', ...NAMES.filter((name) => name !== 'Bash'), 'Read'],
  )
  t.match(resultsOf(stdout), [{ name: 'Read', output: /character device/ }], 'a definition that comes behind HELLO changes nothing')
})

t.test('--tools takes only some', async (t) => {
  const place = new Place(t)
  const input = frames(HELLO, ['TOOL_CALL', 'Bash', 'c1', '{"command":"echo no"}'], STOP)
  const { stdout } = await place.run(input, ['--tools', 'Grep, Read'])
  t.same(
    fieldsOf(stdout).map(([type, name]) => `${type} ${name}`),
    ['TOOL_DEF Read', 'TOOL_DEF Grep', 'HELLO 1', 'TOOL_CALL Bash', 'STOP end_turn'],
  )
  const wrong = await place.run(Buffer.alloc(0), ['--tools', 'Read,Bsh'])
  t.match(wrong, { status: 64, stderr: /^tool-runner: --tools: there is no tool "Bsh": Read, .*\n$/ })
})

t.test('frames that are not ours pass byte for byte, and a call passes before it is answered', async (t) => {
  const place = new Place(t)
  const strange = [
    ['TEXT', 'é漢😀', 'future', '1'],
    ['X_UNKNOWN', '', '\r\n*1\r\n', Buffer.from([0xff, 0, 0x80])],
    ['TOOL_CALL', 'Nobody', 'c0', '[]'],
    ['TOOL_CALL', '__proto__', 'c0', '{}'],
  ]
  const call = ['TOOL_CALL', 'Bash', 'c1', '{"command":"true"}', '@opaque', 'kept']
  const input = frames(...strange, call)
  const { stdout, status } = await place.run(input)
  t.equal(status, 0)
  t.ok(stdout.subarray(0, input.length).equals(input), 'they come first, as they were')
  t.match(resultsOf(stdout), [{ id: 'c1', status: 'ok' }])
})

t.test('input that comes byte by byte gives the same frames', async (t) => {
  const place = new Place(t)
  const input = frames(HELLO, ['TEXT', 'é漢😀'], ['TOOL_CALL', 'Read', 'c1', '{"path":"é"}'], ['X', ''], STOP)
  const timeless = (all: readonly string[][]) =>
    all.map((fields) => fields.map((field, index) => (fields[index - 1] === 'duration_ms' ? '' : field)).join('|')).sort()
  const whole = timeless(fieldsOf((await place.run(input)).stdout))
  const live = new LiveRunner(t, place)
  for (const byte of input) {
    live.process.stdin?.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  live.endInput()
  t.same([await live.ended, live.stderr], [[0, null], ''])
  t.same(timeless(live.frames), whole)
  t.equal(whole.length, NAMES.length + 6)
})

t.test('end of input', async (t) => {
  const place = new Place(t)
  const call = ['TOOL_CALL', 'Bash', 'c1', '{"command":"sleep 0.1; echo done"}']
  t.match(resultsOf((await place.run(frames(call))).stdout), [{ output: 'done\n' }], 'a plain filter finishes')
  const stopped = await place.run(frames(HELLO, call, STOP))
  t.equal(stopped.status, 0)
  t.match(resultsOf(stopped.stdout), [{ output: 'done\n' }], 'so it does after STOP')
  const waiting = ['TOOL_CALL', 'Bash', 'c1', '{"command":"sleep 991.25"}']
  for (const input of [frames(HELLO, waiting), frames(HELLO, STOP, ['USER_MESSAGE', 'again'], waiting)]) {
    const gone = await place.run(input)
    t.match(gone, { status: 69, stderr: /^tool-runner: the input ended before STOP.*\n$/ })
    t.match(resultsOf(gone.stdout), [{ id: 'c1', status: 'cancelled' }])
  }
})

t.test('malformed frames end it with 65, and what ran is cancelled', async (t) => {
  const place = new Place(t)
  const few = await place.run(frames(['TEXT', 'a'], ['TOOL_CALL', 'Bash', 'c1']))
  t.match(few, { status: 65, stderr: /expected TOOL_CALL with 3 fields \(name, id, input\) at byte \d+, found 2\n$/ })
  const cut = await place.run(Buffer.concat([frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"sleep 992.25"}']), Buffer.from('*1\r\n$9')]))
  t.match(cut, { status: 65, stderr: /truncated/ })
  t.match(resultsOf(cut.stdout), [{ id: 'c1', status: 'cancelled' }])
})

t.test('a wrong input is answered with the field that is wrong', async (t) => {
  const place = new Place(t)
  const inputs: [string, string, RegExp][] = [
    ['Bash', '{}', /command is missing; Bash takes command \(string\), timeout \(number, may be left out\)/],
    ['Bash', '{"command":["ls"]}', /command must be a string, not an array/],
    ['Bash', '{"command":null}', /command must be a string, not null/],
    ['Bash', '{"command":"ls","timeout":"5"}', /timeout must be a number, not a string/],
    ['Bash', '{"command":"ls","timeout":0}', /timeout must be more than 0/],
    ['Bash', '{"command":"ls\\u0000"}', /NUL/],
    ['Bash', '[]', /expected an object, not an array/],
    ['Bash', 'null', /expected an object, not null/],
    ['Bash', '"ls"', /expected an object, not a string/],
    ['Bash', '', /not JSON/],
    ['Bash', '{"command":"ls"', /not JSON/],
    ['Bash', '{"__proto__":{"command":"echo no"}}', /command is missing/],
    ['Read', '{"path":"x","offset":1.5}', /offset must be an integer, not a fraction/],
    ['Read', '{"path":"x","limit":-1}', /limit must be at least 1/],
    ['Read', '{"file_path":"x"}', /path is missing; Read takes path/],
    ['Read', '{"path":""}', /path is empty/],
    ['Read', '{"path":"a\\u0000b"}', /NUL/],
    ['Edit', '{"path":"x","old_string":"a","new_string":"b","replace_all":"yes"}', /replace_all must be a boolean/],
    ['Write', '{"path":"x","content":"\\ud800"}', /content holds half of a surrogate pair/],
    ['Grep', '{"pattern":7}', /pattern must be a string/],
    ['Glob', `{"pattern":${'['.repeat(20_000)}`, /not JSON/],
  ]
  const results = await place.call(inputs.map(([name, input]) => [name, input]))
  for (const [index, [, , problem]] of inputs.entries()) t.match(results[index], { status: 'error', output: problem })
})

t.test('wrong options', async (t) => {
  const place = new Place(t)
  t.match(await place.run(Buffer.alloc(0), ['--workspace', 'nowhere']), { status: 64, stderr: 'tool-runner: --workspace nowhere: no such file or directory\n' })
  t.match(await place.run(Buffer.alloc(0), ['--workspace', '/dev/null']), { status: 64, stderr: 'tool-runner: --workspace /dev/null: not a directory\n' })
  t.match(await place.run(Buffer.alloc(0), ['--mode', 'yolo']), { status: 64 })
  const help = await place.run(Buffer.alloc(0), ['--help'])
  t.ok(help.stdout.toString().split('\n').length <= 25)
})
