import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { environmentName, parseOptions } from '../src/options.js'
import { runStage } from './support/stage.js'

const TABLE = {
  width: { type: 'count', about: 'columns', default: 80 },
  'max-output': { type: 'size', about: 'bytes' },
  timeout: { type: 'seconds', about: 'a time', default: 120 },
  color: { type: 'text', about: 'when', choices: ['auto', 'always', 'never'], default: 'auto' },
  system: { type: 'text', about: 'a file' },
  'append-system': { type: 'text', about: 'a text' },
  allow: { type: 'list', about: 'a rule' },
  invert: { type: 'flag', short: 'v', about: 'the others' },
  'stream-json': { type: 'text', optionalValue: true, about: 'a descriptor' },
  model: { type: 'text', about: 'a model', environment: ['OTHER_MODEL', 'OLD_MODEL'] },
} as const

const parse = (...argv: string[]) => parseOptions('my-stage', TABLE, argv)

/** Runs `work` with these variables in the environment. */
function withEnvironment<T>(variables: Record<string, string>, work: () => T): T {
  Object.assign(process.env, variables)
  try {
    return work()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}

process.env.AGENTPIPE_CONFIG = '/dev/null'

t.test('as GNU programs take them', async (t) => {
  t.equal(parse('--width', '40').options.width, 40)
  t.equal(parse('--width=40').options.width, 40)
  t.equal(parse('--wid', '40').options.width, 40, 'a unique abbreviation')
  t.equal(parse('--w=40').options.width, 40)
  t.equal(parse('--width=40', '--width=41').options.width, 41, 'the last counts')
  t.equal(parse('--system', 'x').options.system, 'x', 'a whole name goes before longer ones')
  t.equal(parse('-v').options.invert, true)
  t.equal(parse('--inv').options.invert, true)
  t.same(parse('--allow', 'a', '--allow=b', '--al', 'c').options.allow, ['a', 'b', 'c'])
  t.same(parse('a', '--width', '40', 'b').operands, ['a', 'b'])
  t.same(parse('--', '--width', '40', '--', '-v').operands, ['--width', '40', '--', '-v'])
  t.same(parse('a', '--', 'b').operands, ['a', 'b'])
  t.same(parse('-', '007', '1e3', '0x10', 'true', 'a=b', '').operands, ['-', '007', '1e3', '0x10', 'true', 'a=b', ''])
})

t.test('a value may be anything', async (t) => {
  for (const value of ['-x', '--width', '--', '-', '', '"quoted"', "'q'", 'a=b', 'a\nb', '007', 'true', 'é', '[1]', '__proto__']) {
    t.equal(parse('--append-system', value).options['append-system'], value, JSON.stringify(value))
    t.equal(parse(`--append-system=${value}`).options['append-system'], value, JSON.stringify(value))
    t.same(parse('--allow', value).options.allow, [value])
  }
})

t.test('a value that may be left out is never the next word', async (t) => {
  t.equal(parse().options['stream-json'], undefined)
  t.equal(parse('--stream-json').options['stream-json'], '')
  t.equal(parse('--stream-json=3').options['stream-json'], '3')
  t.same(parse('--stream-json', '3'), { ...parse('--stream-json'), operands: ['3'] })
})

t.test('sizes, times, numbers, choices', async (t) => {
  for (const [text, bytes] of Object.entries({ '0': 0, '100': 100, '100k': 102_400, '64M': 64 * 1024 ** 2, '1g': 1024 ** 3, '1.5k': 1536 })) {
    t.equal(parse('--max-output', text).options['max-output'], bytes)
  }
  for (const [text, seconds] of Object.entries({ '2': 2, '1.5': 1.5, '500ms': 0.5, '2m': 120, '1h': 3600, '3s': 3 }))
    t.equal(parse('--timeout', text).options.timeout, seconds)
  t.equal(parse('--color', 'never').options.color, 'never')
})

t.test('what is wrong is told in one line, 64', async (t) => {
  for (const [argv, message] of [
    [['--widht', '1'], 'there is no option --widht; did you mean --width?'],
    [['-x'], 'there is no option -x; see --help'],
    [['-vv'], 'there is no option -vv; see --help'],
    [['--__proto__=1'], 'there is no option --__proto__; see --help'],
    [['--constructor'], 'there is no option --constructor; see --help'],
    [['--m', 'x'], '--m may be --max-output or --model'],
    [['--width'], '--width needs a value'],
    [['--invert=1'], '--invert takes no value'],
    [['--width', 'wide'], '--width: expected a whole number, found "wide"'],
    [['--width', '-1'], '--width: expected a whole number, found "-1"'],
    [['--width', '1.5'], '--width: expected a whole number, found "1.5"'],
    [['--width', '1e3'], '--width: expected a whole number, found "1e3"'],
    [['--width', ''], '--width: expected a whole number, found ""'],
    [['--width', '99999999999999999999'], '--width: expected a whole number, found "99999999999999999999"'],
    [['--max-output', '10q'], '--max-output: expected a number of bytes, like 100k or 64m, found "10q"'],
    [['--timeout', 'soon'], '--timeout: expected a time in seconds, like 120, 1.5, 500ms or 2m, found "soon"'],
    [['--color', 'blue'], '--color: expected one of auto, always, never, found "blue"'],
  ] as const) {
    t.throws(() => parse(...argv), { name: 'StageError', status: 64, message }, argv.join(' '))
  }
})

t.test('the command line goes before the environment, that before the config file, that before the default', async (t) => {
  const directory = t.testdir()
  const config = join(directory, 'config.json')
  writeFileSync(config, JSON.stringify({ 'my-stage': { width: 50, timeout: '2m', allow: ['x'], invert: true }, other: { width: 1 } }))
  t.equal(environmentName('my-stage', 'max-output'), 'AGENTPIPE_MY_STAGE_MAX_OUTPUT')
  t.equal(parse().options.width, 80)
  withEnvironment({ AGENTPIPE_CONFIG: config }, () => {
    t.match(parse().options, { width: 50, timeout: 120, allow: ['x'], invert: true })
    t.equal(parse().given.size, 0)
    withEnvironment({ AGENTPIPE_MY_STAGE_WIDTH: '60', AGENTPIPE_MY_STAGE_INVERT: '0', AGENTPIPE_MY_STAGE_ALLOW: 'a\nb' }, () => {
      t.match(parse().options, { width: 60, invert: false, allow: ['a', 'b'] })
      t.match(parse('--width', '70', '-v', '--allow', 'c').options, { width: 70, invert: true, allow: ['c'] })
      t.same([...parse('--width', '70').given], ['width'])
    })
  })
  process.env.AGENTPIPE_CONFIG = '/dev/null'
})

t.test("other programs' variables count behind ours, in their order; an empty one does not count", async (t) => {
  t.equal(
    withEnvironment({ OLD_MODEL: 'old' }, () => parse().options.model),
    'old',
  )
  t.equal(
    withEnvironment({ OLD_MODEL: 'old', OTHER_MODEL: 'other' }, () => parse().options.model),
    'other',
  )
  t.equal(
    withEnvironment({ OTHER_MODEL: 'other', AGENTPIPE_MY_STAGE_MODEL: 'ours' }, () => parse().options.model),
    'ours',
  )
  t.equal(
    withEnvironment({ OLD_MODEL: 'old', AGENTPIPE_MY_STAGE_MODEL: '' }, () => parse().options.model),
    'old',
  )
  t.throws(() => withEnvironment({ AGENTPIPE_MY_STAGE_WIDTH: 'x' }, () => parse()), {
    status: 64,
    message: 'AGENTPIPE_MY_STAGE_WIDTH: expected a whole number, found "x"',
  })
})

t.test('a config file that is wrong is 78, and one that is named and not there; else there need not be one', async (t) => {
  const directory = t.testdir()
  const config = join(directory, 'agentpipe', 'config.json')
  mkdirSync(join(directory, 'agentpipe'))
  for (const [text, message] of [
    ['{', /^config file .*config.json:1:2: not JSON: expected/],
    ['{\n  "my-stage": {},\n  }\n', /config.json:4:1: not JSON|config.json:3:3: not JSON: /],
    ['{\n  "my-stage": {"width": tru}\n}', /config.json:2:28: not JSON: unexpected token '}'$/],
    ['{\n  "my-stage": {}\n', /config.json:3:1: not JSON: /],
    ['[]', /expected a JSON object/],
    ['{"my-stage": 1}', /"my-stage" is not an object/],
    ['{"my-stage": {"width": "wide"}}', /my-stage.width: expected a whole number, found "wide"/],
    ['{"my-stage": {"width": [1]}}', /expected a string or a number/],
    ['{"my-stage": {"invert": "yes"}}', /expected true or false/],
    ['{"my-stage": {"allow": "x"}}', /expected an array of strings/],
  ] as const) {
    writeFileSync(config, text)
    withEnvironment({ AGENTPIPE_CONFIG: '', XDG_CONFIG_HOME: directory }, () => t.throws(() => parse(), { status: 78, message }, text))
  }
  withEnvironment({ AGENTPIPE_CONFIG: directory }, () => t.throws(() => parse(), { status: 78, message: /directory/ }))
  for (const path of [join(config, 'below-a-file'), join(directory, 'none')]) {
    withEnvironment({ AGENTPIPE_CONFIG: path }, () => t.throws(() => parse(), { status: 78, message: /^config file .*: no/ }))
    withEnvironment({ AGENTPIPE_CONFIG: '', XDG_CONFIG_HOME: path }, () => t.equal(parse().options.width, 80))
  }
  process.env.AGENTPIPE_CONFIG = '/dev/null'
})

t.test('a name in the config file that means nothing is told, by one process, and does no harm', async (t) => {
  const directory = t.testdir({
    'options.json': '{"shows-options": {"widht": 3, "width": 5, "verbose": true}}',
    'stages.json': '{"show-options": {"width": 3}, "something": {}, "agent-lop": {}}',
  })
  const said = async (file: string, args: string[]) => {
    const { stdout, stderr } = await runStage('shows-options', args, { env: { AGENTPIPE_CONFIG: join(directory, file) } })
    return [JSON.parse(stdout.toString()).options, stderr]
  }
  const config = (file: string) => `shows-options: config file ${join(directory, file)}`
  t.same(await said('options.json', ['any']), [
    { width: 5, verbose: true },
    `${config('options.json')}: there is no option "widht" of shows-options; did you mean "width"?\n`,
  ])
  const [, stderr] = await said('stages.json', ['any'])
  t.equal(stderr, `${config('stages.json')}: there is no stage "show-options"; did you mean "shows-options"?\n`)
})

t.test('as a process: --help, --version and verbs', async (t) => {
  const stdout = async (...args: string[]) => (await runStage('shows-options', args)).stdout.toString()
  t.equal(
    await stdout('any', '-v', 'a', '--wid=3', '--', '--help'),
    '{"options":{"width":3,"verbose":true},"operands":["a","--help"],"given":["width","verbose"]}\n',
  )
  t.equal(await stdout('first', 'X', '--help', '--', '-v'), '["X","--help","--","-v"]\n')
  t.equal(await stdout('first', '-', '--help'), '["-","--help"]\n')
  t.equal(await stdout('first', '--', '--help'), '["--help"]\n')
  t.match(await stdout('first', '--help'), /^usage: shows-options first \[OPTION\.\.\.\] TYPE/)
  t.match(await stdout('any', 'a', '--help'), /^usage: shows-options any/)
  t.match(await stdout('--help'), /^usage: shows-options VERB/)
  t.equal(await stdout('-h'), await stdout('--help'))
  t.equal(await stdout('any', '-h'), await stdout('any', '--help'))
  t.match(await stdout('--version'), /^shows-options \(agentpipe\) /)
  t.match(await stdout('any', '--version'), /^shows-options \(agentpipe\) /)
  t.match(await runStage('shows-options', ['none']), { status: 7 })
  t.match(await runStage('shows-options', ['none', 'a\x1b']), { status: 64, stderr: /^shows-options: there is nothing to do with "a\\u001b"; see --help\n$/ })
  t.match(await runStage('shows-options', ['none', '/dev/null']), {
    status: 64,
    stderr: 'shows-options: there is nothing to do with "/dev/null"; it reads standard input: shows-options none < /dev/null\n',
  })
  t.match(await runStage('shows-options', ['nosuch']), { status: 64, stderr: 'shows-options: there is no verb "nosuch": any, first, none; see --help\n' })
  t.match(await runStage('shows-options', []), { status: 64, stderr: 'shows-options: a verb is needed: any, first, none; see --help\n' })
  t.match(await runStage('shows-options', ['constructor']), { status: 64 })
  t.match(await runStage('passes', ['operand']), { status: 64, stdout: Buffer.alloc(0) })
})
