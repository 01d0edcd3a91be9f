import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eventually, frames, root } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner } from './support/live-runner.js'
import { leftOf, running } from './support/processes.js'
import { Place, type Result, resultsOf } from './support/tools.js'

const trial = spawnSync('bwrap', ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'])
const skip = trial.error ? 'there is no bubblewrap here' : trial.status === 0 ? false : `bubblewrap does not work here: ${trial.stderr}`

/** What git obeys in the directories of submodules and worktrees. */
const SUBMODULE = ['modules/a/b/config', 'modules/a/hooks/x', 'worktrees/w/config.worktree', 'commondir'].map((name) => `.git/${name}`)

const CONFINED = ['--sandbox', 'bwrap']

/** The results of commands that run with a home directory of their own. */
async function commands(place: Place, texts: readonly string[], options: readonly string[] = CONFINED, env: Readonly<Record<string, string>> = {}) {
  const calls = texts.map((command, index) => ['TOOL_CALL', 'Bash', `c${index}`, JSON.stringify({ command })] as const)
  const home = join(place.top, 'home')
  mkdirSync(home, { recursive: true })
  const { stdout, stderr, status } = await place.run(frames(...calls), options, { HOME: home, ...env })
  const results = resultsOf(stdout)
  return { stderr, status, results, outputs: results.map(({ output }) => output) }
}

t.test('files: the workspace and the temporary directory are written, the rest is read, secrets are not', { skip }, async (t) => {
  const place = new Place(t)
  const home = join(place.top, 'home')
  for (const directory of ['.ssh', '.config/agentpipe', '.docker/run']) mkdirSync(join(home, directory), { recursive: true })
  for (const file of ['.ssh/id', '.netrc', '.config/agentpipe/config.json', 'f'])
    writeFileSync(join(home, file), file.endsWith('json') ? '{"x":"needle"}' : 'needle')
  mkdirSync(join(place.outside, 'keys'))
  writeFileSync(join(place.outside, 'keys/k'), 'needle')
  symlinkSync(join(place.outside, 'keys'), join(home, '.aws'))
  const config = join(home, '.config/agentpipe/config.json')
  const search = await place.call(
    [
      ['Grep', { pattern: 'needle', path: place.top }],
      ['Glob', { pattern: 'f', path: place.top }],
      ['Grep', { pattern: 'needle', path: home }],
    ],
    [...CONFINED, '--mode', 'read-only'],
  )
  t.match(search[0], { output: /home\/f:1:needle/ })
  t.match(search[1], { output: `${home}/f` })
  t.match(search[2], { output: /home\/f:1:needle/ })
  const { outputs } = await commands(
    place,
    [
      `(cd; cat f; cat .ssh/id .netrc .aws/k ${place.outside}/keys/k ${config} /etc/shadow | wc -c)`,
      `echo x >f; echo x >"$TMPDIR/f"; echo x >../out/f; echo x >~/f; echo x >>/etc/passwd; touch ~/.ssh/x; rm -rf ../out/keys; true`,
      'mount -o remount,rw,bind / / || umount -l /proc || unshare -Urm mount -o remount,rw,bind / / || echo no; grep ^CapEff /proc/self/status',
      'ls /run /dev/shm | wc -l; ls /dev | grep -cv "^\\(console\\|core\\|fd\\|full\\|null\\|ptmx\\|pts\\|random\\|shm\\|std.*\\|tty\\|urandom\\|zero\\)$"',
    ],
    CONFINED,
    { AGENTPIPE_CONFIG: config },
  )
  t.match(outputs[0], /^needle(cat: .*\n)*0\n/s)
  t.match(outputs[1], /^(.*Read-only file system\n){4}rm: .*(Read-only file system|busy)\n$/)
  t.same(readdirSync(place.workspace), ['f'])
  t.ok(existsSync(join(place.temporary, 'f')))
  t.same(readdirSync(place.outside), ['keys'])
  t.equal(readFileSync(join(home, 'f'), 'utf8'), 'needle')
  t.match(outputs[2], /no\nCapEff:\s*0+\n$/, 'nobody gets powers back')
  t.match(outputs[3], /^[0-9]\n0\n/, 'neither sockets of others nor devices')
})

t.test('what git and agentpipe obey stays as it is, also by way of what is above it', { skip }, async (t) => {
  const place = new Place(t)
  spawnSync('git', ['init', '-q', place.workspace])
  const kept = ['.git/config', '.git/hooks/old', '.agentpipe/config.json', 'a/b/tools/tool']
  mkdirSync(join(place.workspace, '.git/hooks'), { recursive: true })
  for (const directory of ['.agentpipe', 'a/b/tools']) mkdirSync(join(place.workspace, directory), { recursive: true })
  for (const file of kept.slice(1)) writeFileSync(join(place.workspace, file), '{}')
  const before = kept.map((file) => readFileSync(join(place.workspace, file), 'utf8'))
  const attack =
    'mv .git g; mv a c; mv a/b c; mv .agentpipe x; rm -rf .git/hooks .agentpipe a; for f in $(cat list); do echo evil >$f; mv $f f; ln -sf /tmp/x $f; done'
  writeFileSync(join(place.workspace, 'list'), kept.concat('.git/hooks/new').join('\n'))
  const commit = 'echo x >x; git add x; git -c user.name=a -c user.email=a@b commit -qm one && git log --format=%s'
  const { outputs } = await commands(place, [`(${attack}) 2>/dev/null`, commit], [...CONFINED, '--tools-dir', 'a/b/tools'])
  t.equal(outputs[1], 'one\n', 'a commit is made all the same')
  t.same(
    kept.map((file) => readFileSync(join(place.workspace, file), 'utf8')),
    before,
  )
  t.same(readdirSync(join(place.workspace, '.git/hooks')).includes('new'), false)
  const writes = [...kept.slice(0, 3), '.git/hooks/new', 'sub/.git/config', 'sub/.git', ...SUBMODULE].map(
    (path) => ['Write', { path, content: 'evil' }] as const,
  )
  for (const { status, output } of await place.call(writes))
    t.match({ status, output }, { status: 'denied', output: /git runs or obeys|tool-runner runs or obeys/ })
})

t.test('a worktree commits to its repository; one that only says so does not', { skip }, async (t) => {
  const place = new Place(t)
  const git = 'git -c user.name=a -c user.email=a@b'
  const repository = join(place.outside, 'repository')
  spawnSync('sh', [
    '-c',
    `git init -q "$1" && cd "$1" && ${git} commit -q --allow-empty -m one && git worktree add -q "$2/tree"`,
    'sh',
    repository,
    place.workspace,
  ])
  const workspace = join(place.workspace, 'tree')
  const { outputs } = await commands(
    place,
    [`${git} commit -q --allow-empty -m two; git log --format=%s; echo x >"$(git rev-parse --git-common-dir)/hooks/x"`],
    [...CONFINED, '--workspace', workspace],
  )
  t.match(outputs[0], /^two\none\n.*Read-only file system/)
  writeFileSync(join(place.workspace, '.git'), `gitdir: ${place.outside}\n`)
  t.match((await commands(place, [`echo x >${place.outside}/x`])).outputs[0], /Read-only file system/)
})

t.test('processes and network are its own', { skip }, async (t) => {
  const place = new Place(t)
  const server = createServer((socket) => socket.end('reached\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`
  const kernel = 'echo x >/proc/sys/kernel/core_pattern; find /proc -path "/proc/[0-9]*" -prune -o -type f -writable -print; echo end'
  const processes = `kill -9 ${process.pid}; ls /proc | grep -c '^[0-9]*$'; cat /proc/*/environ | grep -c "PATH=" | head -1`
  const { outputs } = await commands(place, [processes, connect, kernel])
  t.match(outputs[0], /No such process\n\d\n/)
  t.match(outputs[2], /^.*Read-only file system\nend\n$/, 'not even root tells the kernel what to do')
  t.match(outputs[1], /refused|unreachable/i)
  t.match((await commands(place, [connect], [...CONFINED, '--network'])).outputs, ['reached\n'])
})

t.test('exit statuses and signals are told apart, of jobs too; a report of another is not believed', { skip }, async (t) => {
  const place = new Place(t)
  const secret = join(place.outside, 'secret')
  writeFileSync(secret, '0 /needle')
  const forge = `report=$(trap -p EXIT | grep -o '[^ >]*/report-[0-9]*' | head -1 | tr -d "'\\\\\\\\"); ln -sf ${secret} "$report"; trap - EXIT; exit 3`
  const texts = ['exit 137', 'kill -KILL $$', 'kill -TERM $$', 'sh -c "kill -KILL \\$\\$"; exit', 'exec false', 'cd / && false', 'pwd', 'nosuch', forge, 'pwd']
  const { results } = await commands(place, texts)
  const shown = results.map(({ exit_code, signal, output }: Result) => exit_code ?? signal ?? output)
  t.same(shown, ['137', 'SIGKILL', 'SIGTERM', '137', '1', '1', '0', '127', '3', '0'])
  t.equal(results[6]?.output, '/\n')
  t.notMatch(results[9]?.output, 'needle')
  const jobs = await place.call(
    [
      ['Bash', { command: 'echo out; exit 137', background: true }],
      ['Jobs', { action: 'wait', job: 'j1' }],
      ['Bash', { command: 'kill -KILL $$', background: true }],
      ['Jobs', { action: 'wait', job: 'j2' }],
    ],
    CONFINED,
  )
  t.match([jobs[1], jobs[3]], [{ output: 'out\n[exit status 137]' }, { output: '[ended by SIGKILL]' }])
  t.same(readdirSync(place.temporary), [])
})

t.test('time-outs, what leaves its group, and SIGKILL of the runner: nothing is left', { skip }, async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place, CONFINED)
  runner.call('Bash', 'c1', { command: `trap 'echo told' TERM; echo start; (setsid sleep 81.375 &); bash -c 'trap "" TERM; sleep 82.375'`, timeout: 1 })
  t.match(await runner.result('c1'), { status: 'timeout', output: /^start\n(told\n)?.*\[timed out after 1 s\]$/s })
  for (const line of ['sleep 81.375', 'sleep 82.375']) t.same(await leftOf(line), [])
  runner.call('Bash', 'c2', { command: 'sleep 83.375 & setsid sleep 84.375 & echo left' })
  t.match(await runner.result('c2'), { status: 'ok', output: 'left\n' })
  t.ok(await eventually(() => running('sleep 83.375').length === 1 && running('sleep 84.375').length === 1), 'what it leaves goes on')
  runner.call('Bash', 'c3', { command: 'echo printed; sleep 85.375' })
  await runner.untilPrinted('c3', 'printed')
  runner.process.kill('SIGINT')
  t.match(await runner.result('c3'), { status: 'cancelled', output: /^printed\n/ })
  runner.call('Bash', 'c4', { command: 'echo again; setsid sleep 86.375 & sleep 87.375' })
  await runner.untilPrinted('c4', 'again')
  runner.process.kill('SIGKILL')
  for (const seconds of ['83.375', '84.375', '85.375', '86.375', '87.375']) t.same(await leftOf(`sleep ${seconds}`), [])
})

t.test('in mode read-only what is allowed changes nothing; in mode full everything; --writable adds a directory', { skip }, async (t) => {
  const place = new Place(t)
  const texts = ['echo x >f || echo x >"$TMPDIR/f" && cat "$TMPDIR/f"', 'ls "$TMPDIR"/f']
  const { outputs } = await commands(place, texts, [...CONFINED, '--mode', 'read-only', '--allow', 'Bash'])
  t.match(outputs[0], /Read-only file system\nx\n$/)
  t.same([...readdirSync(place.workspace), ...readdirSync(place.temporary)], [])
  await commands(place, [`echo x >${place.outside}/full`], [...CONFINED, '--mode', 'full'])
  await commands(place, [`echo x >${place.outside}/added`], [...CONFINED, '--writable', place.outside])
  t.same(readdirSync(place.outside).sort(), ['added', 'full'])
  t.match(await place.callOne('Write', { path: join(place.outside, 'w'), content: '' }, ['--writable', place.outside]), { status: 'ok' })
  t.match(await place.run(Buffer.alloc(0), ['--writable', 'f']), { status: 64, stderr: 'tool-runner: --writable f: no such file or directory\n' })
})

/** Where only the programs stand that are needed, and a bwrap that does what `script` says, if that is given. */
function programs(place: Place, script?: string): Record<string, string> {
  const directory = join(place.outside, `bin${script?.length ?? 0}`)
  mkdirSync(directory)
  for (const name of ['node', 'sh', 'bash', 'mkfifo', 'env', 'cat', 'grep', 'sed', 'xargs', 'rm', 'rmdir']) {
    symlinkSync(
      spawnSync('sh', ['-c', `command -v ${name}`])
        .stdout.toString()
        .trim(),
      join(directory, name),
    )
  }
  if (script !== undefined) writeFileSync(join(directory, 'bwrap'), script)
  if (script !== undefined) chmodSync(join(directory, 'bwrap'), 0o755)
  return { PATH: `${root}/dist/bin:${directory}` }
}

t.test('without a bubblewrap, or with one that does not work: auto says so once, bwrap refuses, none says nothing', async (t) => {
  const place = new Place(t)
  const missing = programs(place)
  const broken = programs(place, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n')
  for (const [env, problem] of [
    [missing, 'there is no bubblewrap (bwrap) to confine commands with'],
    [broken, 'bubblewrap does not work here (bwrap: No permissions to create new namespace)'],
  ] as const) {
    const auto = await commands(place, ['echo one', 'echo two'], ['--sandbox', 'auto'], env)
    t.same([auto.outputs, auto.stderr], [['one\n', 'two\n'], `tool-runner: ${problem}: commands are not confined\n`])
    const refused = await commands(place, ['echo one'], CONFINED, env)
    t.same([refused.outputs, refused.status, refused.stderr], [[], 78, `tool-runner: --sandbox bwrap: ${problem}\n`])
  }
  const full = await commands(place, ['echo one'], ['--sandbox', 'auto', '--mode', 'full'], broken)
  t.same([full.outputs, full.stderr], [['one\n'], ''])
  const none = await commands(place, ['echo one'], [], broken)
  t.same([none.outputs, none.stderr], [['one\n'], ''])
})

t.test('what bubblewrap is told: a directory before what is in it; one that commands could have written is not run', async (t) => {
  const place = new Place(t)
  const log = join(place.outside, 'log')
  const env = programs(place, `#!/bin/sh\necho "$@" >>${log}\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`)
  mkdirSync(join(place.workspace, '.git/hooks'), { recursive: true })
  mkdirSync(join(place.top, 'home/.ssh'), { recursive: true })
  const { outputs, stderr } = await commands(place, ['echo one; exit 130'], CONFINED, env)
  t.same([outputs, stderr], [['one\n[exit status 130]'], ''])
  const [probe, ran = ''] = readFileSync(log, 'utf8').split('\n')
  t.match(probe, /^--unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL --ro-bind \/ \/ --dev \/dev --proc \/proc .*-- \/bin\/sh -c :$/)
  const git = join(place.workspace, '.git')
  const steps = [
    `--bind ${place.workspace} ${place.workspace}`,
    `--bind ${git} ${git}`,
    `--ro-bind ${git}/hooks ${git}/hooks`,
    `--remount-ro ${place.top}/home/.ssh`,
    `--chdir ${place.workspace} -- `,
  ].map((step) => ran.indexOf(step))
  t.notOk(steps.includes(-1))
  t.same(
    steps,
    [...steps].sort((a, b) => a - b),
  )
  const inside = await commands(place, ['echo one'], ['--sandbox', 'auto', '--writable', place.outside], env)
  t.match(inside.stderr, /there is no bubblewrap/)
})
