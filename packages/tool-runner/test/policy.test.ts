import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { checkRuleNames } from '../src/rule-names.js'
import { parseRule } from '../src/rules.js'
import { LiveRunner } from './support/live-runner.js'
import { Place, resultsOf } from './support/tools.js'

const HELLO = ['HELLO', '1', 's']

/** The statuses of commands under these options. */
async function statuses(place: Place, commands: readonly string[], options: readonly string[]): Promise<(string | undefined)[]> {
  const results = await place.call(
    commands.map((command) => ['Bash', { command }]),
    options,
  )
  return results.map(({ status }) => status)
}

t.test('case 24: only ls is allowed, and nothing else comes with it', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'x'), '')
  writeFileSync(join(place.workspace, 'ls'), '#!/bin/sh\nrm x\n', { mode: 0o755 })
  const refused = [
    'ls && rm x',
    'ls; rm x',
    'ls | xargs rm',
    'ls & rm x',
    'ls $(rm x)',
    'ls `rm x`',
    'ls <(rm x)',
    'ls > x',
    'ls >> x',
    'ls &> x',
    'ls <> x',
    'ls </dev/tcp/127.0.0.1/9',
    'ls {x}>/dev/null',
    "$'ls\\nrm x'",
    'ls "$(rm x)"',
    'LS=1 rm x',
    'PATH=. ls',
    'ls # ok\nrm x',
    '/tmp/ls',
    './ls',
    '~/ls',
    'l""s; rm x',
    'ls() { rm x; }; ls',
    'alias ls="rm x"; ls',
    'ls ${x:-$(rm x)}',
    'ls ${!x}',
    'ls $((a[$(rm x)]))',
    'ls <<E\n$(rm x)\nE',
    'ls <<<"$(rm x)"',
    'if ls; then rm x; fi',
    'for f in $(rm x); do ls; done',
    'for PATH in .; do ls; done',
    'for http_proxy in x; do ls; done',
    'while ls; do rm x; done',
    'case $(rm x) in *) ls;; esac',
    '[[ $(rm x) ]] && ls',
    'coproc rm x; ls',
    'eval rm x',
    'sh -c "rm x"',
    'sh -c ls',
    'env ls',
    'xargs ls',
    'sudo ls',
    'find . -exec rm x \\;',
    'timeout 5 rm x',
    'time rm x',
    '! rm x',
    'exec rm x',
    '{rm,x}',
    '$LS',
    'ls "unterminated; rm x',
    'ls ) rm x',
    'if ls',
    '',
    '# nothing',
    `${'('.repeat(5000)}rm x${')'.repeat(5000)}`,
  ]
  const options = ['--mode', 'read-only', '--allow', 'Bash(ls:*)']
  const allowed = [
    "ls -la 'a;b' 2>/dev/null; ls",
    'ls "a && b" x 2>&1 >/dev/null',
    'ls *.c x',
    'l"s" x',
    'timeout 5 ls',
    'nohup ls',
    '(ls; { ls; })',
    'ls $(ls)',
    'if ls; then ls; fi',
    'for f in a b; do ls $f; done',
    'time ls | ls',
    'ls </dev/null',
  ]
  for (const [index, status] of (await statuses(place, [...refused, ...allowed], options)).entries()) {
    if (index < refused.length) t.equal(status, 'denied', `${refused[index]?.slice(0, 80)}`)
    else t.not(status, 'denied', `${allowed[index - refused.length]}`)
  }
  t.ok(existsSync(join(place.workspace, 'x')))
})

t.test('deny finds a command wherever it is', async (t) => {
  const place = new Place(t)
  const refused = [
    'rm x',
    'echo; rm x',
    'echo $(rm x)',
    '"r"m x',
    'r\\m x',
    'xargs rm',
    'find . -exec rm {} +',
    'timeout 5 rm x',
    'env A=1 rm x',
    'sudo -u me rm x',
    'sh -c "rm x"',
    `bash -c 'sh -c "rm x"'`,
    'timeout 5 sh -c "rm x"',
    'eval "rm x"',
    'f() { rm x; }; f',
    'trap "rm x" EXIT',
    'A=$(rm x)',
    'git status && git push --force',
    'git push',
    'rm "unterminated',
  ]
  const options = ['--deny', 'Bash(rm:*)', '--deny', 'Bash(git push *)', '--allow', 'Bash']
  for (const [index, status] of (await statuses(place, refused, options)).entries()) t.equal(status, 'denied', `${refused[index]}`)
  for (const status of await statuses(place, ['echo rm x', 'git status; true', 'ls rm'], options.slice(0, 4))) t.not(status, 'denied')
})

t.test('rules about paths', async (t) => {
  const place = new Place(t)
  for (const directory of ['src/deep', 'secret', '.git']) mkdirSync(join(place.workspace, directory), { recursive: true })
  for (const file of ['src/a.ts', 'src/deep/b.ts', 'secret/key', 'top.env', 'src/deep/x.env']) writeFileSync(join(place.workspace, file), 'needle\n')
  symlinkSync('secret/key', join(place.workspace, 'alias'))
  const deny = ['--deny', 'Read(secret/**)', '--deny', 'Read(*.env)', '--deny', 'Edit(.git/**)', '--deny', 'Write(src/deep)']
  const results = await place.call(
    [
      ['Read', { path: 'src/a.ts' }],
      ['Read', { path: 'secret/key' }],
      ['Read', { path: 'alias' }],
      ['Read', { path: 'src/../secret/../secret/key' }],
      ['Read', { path: 'src/deep/x.env' }],
      ['Grep', { pattern: 'needle' }],
      ['Grep', { pattern: 'needle', path: 'secret' }],
      ['Glob', { pattern: '**' }],
      ['Write', { path: '.git/config', content: 'x' }],
      ['Edit', { path: 'src/deep/b.ts', old_string: 'needle', new_string: 'x' }],
      ['Edit', { path: 'src/a.ts', old_string: 'needle', new_string: 'x' }],
    ],
    deny,
  )
  t.same(
    results.map(({ status }) => status),
    ['ok', 'denied', 'denied', 'denied', 'denied', 'ok', 'denied', 'ok', 'denied', 'denied', 'ok'],
  )
  t.equal(results[5]?.output, 'src/a.ts:1:needle\nsrc/deep/b.ts:1:needle')
  t.equal(
    results[7]?.output,
    'alias\nsrc/a.ts\nsrc/deep/b.ts'
      .split('\n')
      .filter((name) => name !== 'alias')
      .join('\n'),
  )
  t.match(results[1], { output: 'denied by deny Read(secret/**)' })
})

t.test('allow widens the mode; the result says who decided', async (t) => {
  const place = new Place(t)
  const outside = join(place.outside, 'f')
  const write = ['Write', { path: outside, content: 'x' }] as const
  const echo = ['Bash', { command: 'echo hi' }] as const
  t.match(await place.call([write, ['TodoWrite', { todos: [] }]], ['--deny', '*']), [{ status: 'denied' }, { status: 'denied' }])
  t.match(await place.callOne(...write), { status: 'denied' })
  const allowing = ['--mode', 'read-only', '--allow', `Edit(${place.outside}/**)`, '--allow', 'Bash(echo:*)', '--deny', 'TodoWrite']
  t.match(await place.call([write, echo, ['TodoWrite', { todos: [] }]], allowing), [
    { status: 'ok', permission: `allow Edit(${place.outside}/**)` },
    { status: 'ok', permission: 'allow Bash(echo:*)' },
    { status: 'denied', output: 'denied by deny TodoWrite' },
  ])
})

t.test('secrets are not read, but in mode full', async (t) => {
  const place = new Place(t)
  const home = join(place.top, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true })
  writeFileSync(join(home, '.ssh/id'), 'needle\n')
  writeFileSync(join(home, 'f'), 'needle\n')
  symlinkSync(join(home, '.ssh/id'), join(place.workspace, 'innocent'))
  const calls = frames(
    ['TOOL_CALL', 'Read', 'c1', JSON.stringify({ path: '~/.ssh/id' })],
    ['TOOL_CALL', 'Read', 'c2', JSON.stringify({ path: 'innocent' })],
    ['TOOL_CALL', 'Grep', 'c3', JSON.stringify({ pattern: 'needle', path: '~' })],
    ['TOOL_CALL', 'Glob', 'c4', JSON.stringify({ pattern: '**', path: '~' })],
    ['TOOL_CALL', 'Read', 'c5', JSON.stringify({ path: '/proc/self/environ' })],
  )
  const results = resultsOf((await place.run(calls, [], { HOME: home })).stdout).sort((a, b) => (a.id < b.id ? -1 : 1))
  t.same(
    results.map(({ status }) => status),
    ['denied', 'denied', 'ok', 'ok', 'denied'],
  )
  t.match(results[0], { output: /holds secrets/ })
  for (const { output } of results.slice(2, 4)) t.notMatch(output, '.ssh')
  const full = resultsOf((await place.run(calls, ['--mode', 'full'], { HOME: home })).stdout).sort((a, b) => (a.id < b.id ? -1 : 1))
  t.match(full[0], { status: 'ok', output: /needle/ })
})

t.test('ask: the answer decides, always counts for the same again, nobody there means no', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place, ['--ask', 'Bash(touch:*)'])
  runner.process.stdin?.write(frames(HELLO))
  const requests = () => runner.frames.filter(([type]) => type === 'PERMISSION_REQUEST')
  const asked = async (count: number) => {
    const end = Date.now() + 60_000
    while (requests().length < count && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10))
    t.equal(requests().length, count)
  }
  runner.call('Bash', 'c1', { command: 'touch one' })
  await asked(1)
  t.same(requests()[0], ['PERMISSION_REQUEST', 'c1', 'Bash', 'ask Bash(touch:*)', 'input', '{"command":"touch one"}'])
  t.notOk(existsSync(join(place.workspace, 'one')), 'it waits')
  runner.process.stdin?.write(frames(['PERMISSION', 'other', 'allow'], ['PERMISSION', 'c1', 'allow']))
  t.match(await runner.result('c1'), { status: 'ok', permission: 'user' })
  runner.call('Bash', 'c2', { command: 'touch two' })
  await asked(2)
  runner.process.stdin?.write(frames(['PERMISSION', 'c2', 'deny']))
  t.match(await runner.result('c2'), { status: 'denied', output: 'denied by ask Bash(touch:*): the user said no' })
  runner.call('Bash', 'c3', { command: 'touch three' })
  await asked(3)
  runner.process.stdin?.write(frames(['PERMISSION', 'c3', 'always']))
  t.match(await runner.result('c3'), { status: 'ok', permission: 'user, always' })
  runner.call('Bash', 'c4', { command: 'touch three' })
  t.match(await runner.result('c4'), { status: 'ok', permission: 'user, always' })
  runner.call('Bash', 'c5', { command: 'touch five' })
  await asked(4)
  runner.process.stdin?.write(frames(['INTERRUPT', 'n']))
  t.match(await runner.result('c5'), { status: 'cancelled' })
  runner.process.stdin?.write(frames(['STOP', 'end_turn']))
  runner.call('Bash', 'c6', { command: 'touch six' })
  await asked(5)
  runner.endInput()
  t.match(await runner.result('c6'), { status: 'denied', output: /nobody is there to be asked/ })
  t.same(readdirSync(place.workspace).sort(), ['one', 'three'])
})

t.test('a project can take away, and not give', async (t) => {
  const place = new Place(t)
  mkdirSync(join(place.workspace, '.agentpipe'))
  const project = (rules: unknown) => writeFileSync(join(place.workspace, '.agentpipe/config.json'), JSON.stringify({ 'tool-runner': rules }))
  project({ allow: ['Write(/**)', 'Bash', 'Read(~/.ssh/**)'], deny: ['Bash(make deploy:*)'], ask: ['Bash(make:*)'] })
  const write = await place.call([
    ['Write', { path: join(place.outside, 'f'), content: 'x' }],
    ['Bash', { command: 'make x' }],
  ])
  t.match(write[0], { status: 'denied' })
  t.not(write[1]?.status, 'denied', 'its allow makes an exception of its ask')
  t.match(await place.callOne('Bash', { command: 'echo' }, ['--mode', 'read-only']), { status: 'denied' })
  t.match(await place.callOne('Bash', { command: 'make deploy' }, ['--allow', 'Bash']), { status: 'denied', output: 'denied by deny Bash(make deploy:*)' })
  project({ ask: ['Bash(make:*)'] })
  t.match(await place.callOne('Bash', { command: 'make x' }), { status: 'denied', output: /ask Bash\(make:\*\) of the project: nobody/ })
  writeFileSync(join(place.workspace, '.agentpipe/config.json'), '{')
  t.match(await place.run(Buffer.alloc(0)), { status: 78, stderr: /^tool-runner: \.agentpipe\/config\.json: .*\n$/ })
})

t.test('the user’s config file, which flags do not take away; rules that are none', async (t) => {
  const place = new Place(t)
  const config = join(place.top, 'config.json')
  writeFileSync(config, JSON.stringify({ 'tool-runner': { deny: ['Bash(touch:*)'] } }))
  const call = frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"touch x"}'])
  const { stdout } = await place.run(call, ['--deny', 'Read', '--allow', 'Bash'], { AGENTPIPE_CONFIG: config })
  t.match(resultsOf(stdout), [{ status: 'denied', output: 'denied by deny Bash(touch:*)' }])
  t.match(await place.run(Buffer.alloc(0), ['--deny', 'a b']), { status: 64, stderr: /--deny: expected a rule like/ })
  for (const rule of ['', 'Bash(', 'a b', '(x)']) t.throws(() => parseRule(rule, place.workspace, '--deny'), /^--deny: expected a rule like/)
  t.match(await place.run(Buffer.alloc(0), ['--deny', 'Bsh(rm:*)']), {
    status: 64,
    stderr: /^tool-runner: --deny: there is no tool "Bsh"; did you mean Bash\?/,
  })
  const check = (rule: string) => checkRuleNames({ deny: [rule], allow: [], ask: [] }, ['Read', 'Bash'], false)
  t.throws(() => check('bash'), /there is no tool "bash"; did you mean Bash\?/)
  t.throws(() => check('Deployment'), /there is no tool "Deployment"; the tools are Read, /)
  for (const rule of ['Ba*', 'SubAgent', 'server__tool']) check(rule)
})
