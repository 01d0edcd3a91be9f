import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { eventually, run, shell, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { inside } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers, runsNow } from './support/processes.js'

const PLAYED = ['--provider=replay', '--from=model.resp']
const batch = (workspace: Workspace, args: readonly string[], input = '') => run('agentpipe', ['batch', ...PLAYED, ...args], inside(workspace, { input }))
const lines = (text: Buffer) =>
  text
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

t.test('a prompt a line or an object a line; what went well is not done again, what failed is', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'answer' }))
  const evil = 'evil \u001b[2J\u202e"$(touch made)"'
  writeFileSync(workspace.path('list'), `${evil}\n\n{"prompt": "two\\nlines", "session": "mine"}\n{"prompt": "bad", "from": "none.resp"}\n`)
  const first = await batch(workspace, ['list', '--jobs', '2'])
  t.equal(first.status, 1)
  t.match(first.stdout.toString(), /mine .* two lines\n/)
  t.match(first.stdout.toString(), /failed 66 .* bad\n +agent-loop: .*none\.resp/)
  t.match(first.stdout.toString(), /\n2 done, 1 failed\n$/)
  for (const evil of ['\u001b', '\u202e']) t.notOk((first.stdout.toString() + first.stderr).includes(evil))
  t.notOk(existsSync(workspace.path('made')))
  const again = await batch(workspace, ['list', '--json'])
  t.match(lines(again.stdout), [{ line: 4, prompt: 'bad', status: 66, text: '' }])
  writeFileSync(workspace.path('list'), `${evil}\n`)
  t.match(await batch(workspace, ['list']), { status: 0, stdout: /^0 done, 0 failed, 1 done before \(list\.done\)\n$/ })
  t.same(await leftovers(workspace), [])
})

t.test('a list or its record that never ends is refused; no lock stays', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  writeFileSync(workspace.path('list'), 'one\n')
  symlinkSync('/dev/zero', workspace.path('list.done'))
  t.match(await batch(workspace, ['list']), { status: 65, stderr: 'agentpipe: list.done is not a regular file: move it away\n' })
  t.match(await batch(workspace, ['/dev/zero']), { status: 65, stderr: 'agentpipe: /dev/zero: longer than 256 MiB\n' })
  t.same(readdirSync(workspace.path('state/agentpipe/batches')), [])
})

t.test('standard input; nothing is noted', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'answer' }))
  const { status, stdout } = await batch(workspace, ['-', '--json', '--jobs=2'], 'one\none\n')
  t.equal(status, 0)
  t.match(
    lines(stdout).map(({ prompt, text, status }) => [prompt, text, status]),
    [
      ['one', 'answer', 0],
      ['one', 'answer', 0],
    ],
  )
  t.same(
    readdirSync(workspace.directory).filter((name) => name.endsWith('.done')),
    [],
  )
})

t.test('a list that is wrong is told with its line, and nothing runs', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  for (const [line, problem] of [
    ['{bad', 'not JSON'],
    ['{"text": "x"}', 'expected the member "prompt"'],
    ['{"prompt": "x", "modle": "y"}', 'there is no member "modle"'],
    ['{"prompt": "x", "session": "../x"}', '"session": expected'],
    ['{"prompt": "x", "session": "a"}\n{"prompt": "y", "session": "a"}', "another line's"],
  ] as const) {
    const { status, stdout, stderr } = await batch(workspace, ['-'], `fine\n${line}`)
    t.match({ status, stdout: stdout.toString(), stderr }, { status: 65, stdout: '' })
    t.match(stderr, /^agentpipe: -: line \d: /)
    t.match(stderr, problem)
  }
  t.match(await batch(workspace, ['none']), { status: 66 })
  t.match(await batch(workspace, []), { status: 64 })
})

t.test('--worktree: changes are kept on a branch, nothing else is', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'answer', calls: [{ name: 'Write', input: { path: 'new', content: 'new' } }] }, { text: 'done' }))
  writeFileSync(workspace.path('nothing.resp'), capture({ text: 'nothing' }))
  const git = 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m start'
  t.match(await shell(git, [], inside(workspace)), { status: 0 })
  const from = (file: string) => JSON.stringify({ prompt: file, from: workspace.path(file) })
  const { status, stdout, stderr } = await run(
    'agentpipe',
    ['batch', '-', '--provider=replay', '--worktree', '--json', '--jobs=2'],
    inside(workspace, { input: `${from('model.resp')}\n${from('nothing.resp')}\n` }),
  )
  t.equal(status, 0, stderr)
  const [changed, nothing] = lines(stdout).sort((a, b) => a.line - b.line)
  t.equal(readFileSync(`${changed.worktree}/new`, 'utf8'), 'new')
  t.equal(changed.branch, `agentpipe/${changed.session}`)
  t.notOk(nothing.worktree)
  t.notOk(existsSync(workspace.path('new')))
  const branches = await shell('git branch --format "%(refname:short)" | grep agentpipe/; git worktree list | wc -l', [], inside(workspace))
  t.equal(branches.stdout.toString(), `agentpipe/${changed.session}\n2\n`)
})

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGKILL', undefined],
] as const) {
  t.test(`${signal}: nothing is left behind`, async (t) => {
    const workspace = new Workspace(t, capture(bash('sleep 983'), { text: 'never said' }))
    writeFileSync(workspace.path('list'), 'one\ntwo\n')
    const child = spawn('agentpipe', ['batch', ...PLAYED, 'list', '--jobs=1'], {
      cwd: workspace.directory,
      env: testEnvironment(workspace.environment),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let printed = ''
    child.stdout.on('data', (text) => {
      printed += text
    })
    await eventually(() => runsNow(workspace, 'sleep 983'), 15_000)
    if (signal === 'SIGINT')
      t.match(await batch(workspace, ['./list']), { status: 75, stderr: `agentpipe: ./list is being done by process ${child.pid}: wait for it to end\n` })
    child.kill(signal)
    t.same(await once(child, 'close'), [null, signal])
    if (status !== undefined) t.match(printed, /interrupted .* one\n.*\n?0 done, 1 failed, 1 not begun\n$/)
    await eventually(() => !runsNow(workspace, 'sleep 983'), 15_000)
    t.same(await leftovers(workspace), [])
  })
}

t.test('what can not be noted is done and said; what is read from a pipe is not noted', async (t) => {
  const workspace = new Workspace(t, capture(bash('rm list.done; mkdir list.done'), { text: 'answer' }))
  writeFileSync(workspace.path('list'), 'one\n')
  const full = await batch(workspace, ['list'])
  t.match(full, { status: 74, stderr: /^agentpipe: cannot write list.done: it is a directory: what is done now would be done again\n/m })
  t.match(full.stdout.toString(), /\n1 done, 0 failed\n$/)
  const piped = await shell(`agentpipe batch ${PLAYED.join(' ')} <(echo one)`, [], inside(workspace))
  t.match(piped, { status: 0 })
  t.match(piped.stdout.toString(), /\n1 done, 0 failed\n$/)
})

const noParallel = (await run('sh', ['-c', 'parallel --version | grep GNU'])).status !== 0 && 'no GNU parallel here'

t.test('xargs -P, and a loop that reads lines', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'answer' }))
  const play = `agentpipe ${PLAYED.join(' ')} --output-format text`
  t.equal((await shell(`printf 'a\\nb\\n' | xargs -P 2 -I{} ${play} {}`, [], inside(workspace))).stdout.toString(), 'answer\nanswer\n')
  const loop = await shell(`printf 'a\\nb\\n' | while read -r line; do ${play} "$line" </dev/null; done`, [], inside(workspace))
  t.equal(loop.stdout.toString(), 'answer\nanswer\n')
})

t.test('GNU parallel: prompts as arguments and by a pipe', { skip: noParallel }, async (t) => {
  const workspace = new Workspace(t, capture({ text: 'answer' }))
  writeFileSync(workspace.path('list'), "it's `x` $HOME\ntwo\n")
  const play = `agentpipe ${PLAYED.join(' ')} --output-format text`
  const env = { HOME: workspace.directory }
  const both = await shell(`parallel -j2 -k ${play} {} <list; echo $?; echo one | parallel --pipe -N1 ${play}; echo $?`, [], inside(workspace, { env }))
  t.equal(both.stdout.toString(), 'answer\nanswer\n0\nanswer\n0\n', both.stderr)
  const asked = await shell('grep -rhoF "$1" state | sort -u', ["it's `x` $HOME"], inside(workspace))
  t.equal(asked.stdout.toString(), "it's `x` $HOME\n")
  t.same(await leftovers(workspace), [])
})
