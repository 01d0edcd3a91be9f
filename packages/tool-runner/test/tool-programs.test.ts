import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner } from './support/live-runner.js'
import { leftOf } from './support/processes.js'
import { Place, resultsOf } from './support/tools.js'

const DESCRIPTION = {
  name: 'shout',
  description: 'Says it loudly',
  input_schema: { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1 } }, required: ['text'] },
}

/** A program in a tools directory: what it describes, and what it does when it is called. */
function program(directory: string, name: string, description: unknown, body: string): void {
  const text = typeof description === 'string' ? description : JSON.stringify(description)
  writeFileSync(join(directory, name), `#!/bin/sh\nif [ "$1" = --describe ]; then cat <<'E'\n${text}\nE\nexit; fi\n${body}\n`, { mode: 0o755 })
}

function toolsDirectory(place: Place): string {
  const directory = join(place.outside, 'tools')
  mkdirSync(directory)
  return directory
}

t.test('a program is a tool: announced, checked, given its input, answered with what it prints', async (t) => {
  const place = new Place(t)
  const directory = toolsDirectory(place)
  program(directory, 'shout', DESCRIPTION, 'tr a-z A-Z; echo; echo oops >&2; pwd; [ -t 0 ] || echo no terminal')
  program(directory, 'fails', { name: 'fails', description: 'd' }, 'echo half; echo why >&2; exit 3')
  program(directory, 'file', { name: 'stdin_again', description: 'd', inputSchema: {}, read_only: true }, 'cat /dev/stdin; env | grep -c KEY || true')
  program(directory, 'nothing', { name: 'nothing', description: 'd' }, 'exec true')
  program(directory, 'zz-broken', 'no JSON', '')
  program(directory, 'zz-bash', { name: 'Bash', description: 'not that one' }, 'echo mine')
  program(directory, 'zz-twice', { ...DESCRIPTION, description: 'second' }, '')
  program(directory, '.hidden', { name: 'hidden', description: 'd' }, '')
  writeFileSync(join(directory, 'README'), 'no program')
  const calls = [
    ['shout', { text: 'é "quoted"', other: [1] }],
    ['shout', { times: 0 }],
    ['shout', { text: 'a', times: 0 }],
    ['fails', {}],
    ['stdin_again', { a: 'b' }],
    ['nothing', { big: 'x'.repeat(300_000) }],
    ['Bash', { command: 'echo builtin' }],
    ['nothing', []],
  ]
  const input = frames(['HELLO', '1', 's'], ...calls.map(([name, given], index) => ['TOOL_CALL', name as string, `c${index}`, JSON.stringify(given)]), [
    'STOP',
    'end_turn',
  ])
  const { stdout, stderr, status } = await place.run(input, ['--tools-dir', directory, '--tools-wait', '20'], { MY_KEY: 'k' })
  t.equal(status, 0)
  const definitions = fieldsOf(stdout).filter(([type]) => type === 'TOOL_DEF')
  t.same(definitions.map(([, name]) => name).slice(-4), ['fails', 'nothing', 'shout', 'stdin_again'])
  t.same(
    definitions.find(([, name]) => name === 'shout'),
    ['TOOL_DEF', 'shout', 'Says it loudly', JSON.stringify(DESCRIPTION.input_schema), 'read_only', 'false'],
  )
  t.equal(
    fieldsOf(stdout).findIndex(([type]) => type === 'HELLO'),
    definitions.length,
    'in front of HELLO',
  )
  const byId = new Map(resultsOf(stdout).map((result) => [result.id, result]))
  t.match(byId.get('c0'), {
    status: 'ok',
    output: `${JSON.stringify(calls[0]?.[1]).replace(/[a-z]/g, (letter) => letter.toUpperCase())}\n${place.workspace}\nno terminal\n`,
  })
  t.match(byId.get('c1'), { status: 'error', output: 'wrong input: text is missing; shout takes text (string), times (integer, may be left out)' })
  t.match(byId.get('c2'), { status: 'error', output: /^wrong input: times must be at least 1, not 0/ })
  t.match(byId.get('c3'), { status: 'error', exit_code: '3', output: 'half\nwhy\n[exit status 3]' })
  t.match(byId.get('c4'), { status: 'ok', output: '{"a":"b"}0\n' })
  t.match(byId.get('c5'), { status: 'ok', output: '' })
  t.match(byId.get('c6'), { output: 'builtin\n' })
  t.match(byId.get('c7'), { status: 'error', output: /expected an object, not an array/ })
  t.match(stderr, /^tool-runner: tools\/zz-broken is no tool: --describe printed no JSON: .*$/m)
  t.match(stderr, /^tool-runner: tools\/zz-bash is left out: there is a tool Bash already$/m)
  t.match(stderr, /^tool-runner: tools\/zz-twice is left out: there is a tool shout already$/m)
  t.notMatch(stderr, /hidden|README/)
})

t.test('the policy holds for them: modes, rules, and nobody writes what tool-runner runs', async (t) => {
  const place = new Place(t)
  const directory = join(place.workspace, '.agentpipe', 'tools')
  mkdirSync(directory, { recursive: true })
  program(directory, 'writer', { name: 'writer', description: 'd' }, 'echo wrote')
  program(directory, 'reader', { name: 'reader', description: 'd', read_only: true }, 'echo read')
  const named = ['--tools-dir', '.agentpipe/tools', '--tools-wait', '20']
  const calls = [
    ['writer', {}],
    ['reader', {}],
    ['Write', { path: '.agentpipe/tools/writer', content: '#!/bin/sh\necho mine' }],
  ] as const
  t.match(await place.call(calls, [...named, '--mode', 'read-only']), [{ status: 'denied' }, { status: 'ok', output: 'read\n' }, { status: 'denied' }])
  t.match(await place.call(calls, [...named, '--deny', 'r*']), [
    { status: 'ok' },
    { status: 'denied', output: 'denied by deny r*' },
    { status: 'denied', output: /what tool-runner runs or obeys/ },
  ])
  t.match(await place.call(calls, [...named, '--ask', 'writer']), [{ status: 'denied', output: /nobody is there/ }, {}, {}])
})

t.test('tools of a project are not run, not even asked what they are, unless they are named', async (t) => {
  const place = new Place(t)
  const directory = join(place.workspace, '.agentpipe', 'tools')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'trap'), `#!/bin/sh\ntouch ${place.outside}/ran\n`, { mode: 0o755 })
  const { stdout, stderr } = await place.run(
    frames(['HELLO', '1', 's'], ['TOOL_CALL', 'Bash', 'c1', `{"command":"ls ${place.outside}"}`], ['STOP', 'end_turn']),
  )
  t.match(resultsOf(stdout)[0], { output: '' })
  t.match(stderr, /^tool-runner: the project has tools of its own, which are not used: .*--tools-dir .agentpipe\/tools uses them\n$/)
})

t.test('whoever answers first, a name is that of the program that is called so, else of the first one', async (t) => {
  const place = new Place(t)
  const directory = toolsDirectory(place)
  const slow = (file: string, name: string) =>
    writeFileSync(join(directory, file), `#!/bin/sh\nsleep 0.5; echo '{"name":"${name}","description":"of ${file}"}'\n`, { mode: 0o755 })
  program(directory, 'a', { name: 'shout', description: 'of a' }, '')
  slow('b', 'odd')
  program(directory, 'c', { name: 'odd', description: 'of c' }, '')
  slow('shout.sh', 'shout')
  const { stdout, stderr } = await place.run(frames(['HELLO', '1', 's']), ['--tools-dir', directory, '--tools-wait', '20'])
  const described = fieldsOf(stdout).flatMap(([type, name, description]) => (type === 'TOOL_DEF' && /odd|shout/.test(name ?? '') ? [[name, description]] : []))
  t.same(described.sort(), [
    ['odd', 'of b'],
    ['shout', 'of shout.sh'],
  ])
  t.match(stderr, 'tools/a is left out: there is a tool shout already\ntool-runner: tools/c is left out: there is a tool odd already\n')
})

t.test('slow ones hold nobody up, and cancelled or late ones leave nothing', async (t) => {
  const place = new Place(t)
  const directory = toolsDirectory(place)
  program(directory, 'quick', { name: 'quick', description: 'd' }, 'sleep 61.25 & echo started; sleep 62.25')
  writeFileSync(join(directory, 'slow'), `#!/bin/sh\nif [ "$1" ]; then sleep 1; echo '{"name":"slow","description":"d"}'; else echo done; fi\n`, {
    mode: 0o755,
  })
  writeFileSync(join(directory, 'never'), '#!/bin/sh\nsleep 63.25\n', { mode: 0o755 })
  const runner = new LiveRunner(t, place, ['--tools-dir', directory, '--tools-wait', '300ms'])
  runner.send('HELLO', '1', 's')
  runner.call('slow', 'c1', {})
  runner.call('quick', 'c2', {})
  await runner.untilPrinted('c2', 'started')
  runner.send('INTERRUPT', 'n', 'call', 'c2')
  t.match(await runner.result('c2'), { status: 'cancelled', output: /^started\n/ })
  t.match(await runner.result('c1'), { status: 'ok', output: 'done\n' }, 'a call that came before its tool was known')
  t.ok(runner.types().indexOf('HELLO') < runner.types().lastIndexOf('TOOL_DEF'), 'the slow one was announced later')
  runner.send('STOP', 'end_turn')
  runner.endInput()
  t.match(await runner.ended, [0, null])
  t.same([await leftOf('sleep 61.25'), await leftOf('sleep 62.25'), await leftOf('sleep 63.25')], [[], [], []])
})

t.test('a tools directory that is none', async (t) => {
  const place = new Place(t)
  t.match(await place.run(Buffer.alloc(0), ['--tools-dir', 'no/such']), {
    status: 64,
    stderr: /^tool-runner: --tools-dir no\/such: no such file or directory\n$/,
  })
})
