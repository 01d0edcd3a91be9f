import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, frames, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner, SharedRunner } from './support/live-runner.js'
import { leftOf } from './support/processes.js'
import { Place, resultsOf } from './support/tools.js'

/** `make soak` asks for more. */
const MEGABYTES = Number(process.env.OUTPUT_MEGABYTES ?? 20)
const LARGEST_KB = 150 * 1024

const shared = new Place(t)
const runner = new SharedRunner(t, shared)

const bash = (command: string, timeout?: number) => ['Bash', timeout === undefined ? { command } : { command, timeout }] as const

t.test('exit statuses and signals are told apart', async (t) => {
  const results = await runner.call([
    bash('echo out; echo err >&2'),
    bash('echo END; exit 3'),
    bash('exit 137'),
    bash('kill -KILL $$'),
    bash('nosuchprogram'),
    bash('if then'),
  ])
  t.match(results[0], { status: 'ok', exit_code: '0', output: /^(out\nerr|err\nout)\n$/, summary: 'exit status 0', duration_ms: /^\d+$/ })
  t.match(results[1], { status: 'error', exit_code: '3', output: 'END\n[exit status 3]' })
  t.match(results[2], { status: 'error', exit_code: '137', output: '[exit status 137]' })
  t.notOk('signal' in (results[2] ?? {}))
  t.match(results[3], { status: 'error', signal: 'SIGKILL', output: '[ended by SIGKILL]' })
  t.notOk('exit_code' in (results[3] ?? {}))
  t.match(results[4], { status: 'error', exit_code: '127', output: /^bash: line 1: nosuchprogram: command not found\n/ })
  t.match(results[5], { status: 'error', output: /line 1: .*syntax error near unexpected token `then'\n.*`if then'/ })
})

t.test('a command is what it is: words that look like options, quotes, any number of lines', async (t) => {
  const results = await runner.call([
    bash('-n'),
    bash(`echo 'it'"'"'s' "\\$x" \\\\; echo $#; echo "$0"`),
    bash("cat <<'EOF'\n$x `y`\nEOF"),
    bash('# nothing'),
    bash(''),
  ])
  t.match(results[0], { exit_code: '127', output: /-n: command not found/ })
  t.match(results[1], { output: "it's $x \\\n0\nbash\n" })
  t.match(results[2], { output: '$x `y`\n' })
  t.match(results.slice(3), [
    { status: 'ok', output: '' },
    { status: 'ok', output: '' },
  ])
})

t.test('a command of 140 KB', async (t) => {
  const text = `${"it's $x `y` \\n é\n".repeat(9000)}last\n`
  t.ok(text.length > 140_000)
  const [result] = await runner.call([bash(`cat >big <<'EOF'\n${text}EOF\nwc -c <big; exit 4`)])
  t.match(result, { output: `${Buffer.byteLength(text)}\n[exit status 4]` })
  t.equal(readFileSync(join(shared.workspace, 'big'), 'utf8'), text)
})

t.test('case 16: stdin is empty, and frames are not for commands', async (t) => {
  const results = await runner.call([
    bash('cat; read x; echo "[$x]"; wc -c'),
    bash('head -c1 /dev/tty 2>&1; echo $?'),
    bash('ls /proc/self/fd | grep -c "^[0-9]$"'),
  ])
  t.match(results[0], { status: 'ok', output: '[]\n0\n' })
  t.match(results[1], { status: 'ok', output: /dev\/tty.*\n1\n$/ })
  t.match(results[2], { output: '4\n' }, 'stdin, stdout, stderr, and the directory that ls reads')
})

t.test('stdout and stderr are pipes that can be opened again', async (t) => {
  t.match(await runner.callOne(...bash('echo a >/dev/stderr; echo b | tee /dev/stderr >/dev/null')), { status: 'ok', output: 'a\nb\n' })
})

t.test('case 16: no pager, no editor, no colours, no question', async (t) => {
  const commands = 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one'
  const amend = 'git -c core.pager=less log --format=%s; git -c user.name=a -c user.email=a@b commit -q --amend --allow-empty && echo amended'
  t.match(await runner.callOne(...bash(`${commands}; ${amend}; echo $TERM`, 20)), { status: 'ok', output: 'one\namended\ndumb\n' })
})

t.test('keys are not handed on', async (t) => {
  const place = new Place(t)
  const keys = {
    ANTHROPIC_API_KEY: 'k-secret',
    OPENAI_API_KEY: 'k-secret',
    GEMINI_API_KEY: 'k-secret',
    GITHUB_TOKEN: 'k-secret',
    AWS_SECRET_ACCESS_KEY: 'k-secret',
    MY_API_KEY_2: 'k-secret',
    AGENTPIPE_ANYTHING: 'k-secret',
    db_password: 'k-secret',
    TOKENIZERS_PARALLELISM: 'kept',
    SSH_AUTH_SOCK: 'kept',
  }
  const { stdout } = await place.run(frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"env; ps -ef"}']), [], keys)
  const [result] = resultsOf(stdout)
  t.notMatch(result?.output, /k-secret/)
  t.match(result?.output, /TOKENIZERS_PARALLELISM=kept/)
  t.match(result?.output, /SSH_AUTH_SOCK=kept/)
})

t.test('case 25: keys are not even in the environment of tool-runner itself; --env brings one back', async (t) => {
  const place = new Place(t)
  const names = [
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEYS',
    'GOOGLE_APIKEY',
    'HF_TOKEN',
    'token',
    'X_SECRET_2',
    'MY_KEY',
    'MY_KEY12',
    'db_passwd',
    'A_PRIVATE_KEY_FILE',
  ]
  const kept = ['KEY', 'MONKEY', 'TOKENIZERS_PARALLELISM', 'KEYBOARD', 'PASSWORDLESS', 'X_KEYS_X']
  const values = { PLAIN_NAME: 'sk-ant-0123456789abcdef', GH: 'ghp_0123456789abcdef0123', SHORT: 'sk-1', ODD: "a b='c'\nexport MONKEY=1" }
  const environment = { ...Object.fromEntries([...names, ...kept].map((name) => [name, 'k'])), ...values }
  const command = 'env -0; echo ====; cat /proc/$PPID/environ'
  const call = frames(['TOOL_CALL', 'Bash', 'c1', JSON.stringify({ command })])
  const seen = async (options: string[], extra = {}) => {
    const { stdout } = await place.run(call, options, { ...environment, ...extra })
    const [given = '', own = ''] = (resultsOf(stdout)[0]?.output ?? '').split('====\n')
    const there = (text: string) => Object.keys(environment).filter((name) => text.split('\0').some((line) => line.startsWith(`${name}=`)))
    return [there(given), there(own)]
  }
  const expected = [...kept, 'SHORT', 'ODD']
  t.same(await seen([]), [expected, expected])
  const added = ['HF_TOKEN', ...expected]
  t.same(await seen(['--env=HF_TOKEN', '--env', 'NOT_SET']), [added, added])
  t.same(await seen([], { AGENTPIPE_TOOL_RUNNER_ENV: 'NOT_SET\nHF_TOKEN' }), [added, added])
  writeFileSync(join(place.outside, 'config.json'), '{"tool-runner":{"env":["HF_TOKEN"]}}')
  t.same(await seen([], { AGENTPIPE_CONFIG: join(place.outside, 'config.json') }), [added, added])
})

t.test('case 15: a time-out ends the whole group, and what was printed is there', async (t) => {
  const place = new Place(t)
  const stubborn = `echo start; bash -c 'trap "" TERM; sleep 61.375 & sleep 62.375'`
  const escaped = '(setsid sleep 3.375 &); sleep 64.375'
  const results = await place.call([bash(stubborn, 1), bash(escaped, 1), bash('sleep 65.375')], ['--timeout', '1'])
  t.match(results[0], { status: 'timeout', output: 'start\n[timed out after 1 s]' })
  t.match(results.slice(1), [
    { status: 'timeout', output: '[timed out after 1 s]' },
    { status: 'timeout', output: '[timed out after 1 s]' },
  ])
  for (const { duration_ms } of results) t.ok(Number(duration_ms) < 30_000, `${duration_ms} ms`)
  for (const seconds of ['61.375', '62.375', '3.375', '64.375', '65.375']) t.same(await leftOf(`sleep ${seconds}`), [])
})

t.test('the result comes when the shell has ended, whoever holds its pipes; what it left behind ends with the runner', async (t) => {
  const place = new Place(t)
  const results = await place.call([bash('sleep 66.375 & echo done'), bash('(trap "" TERM; sleep 67.375) & yes 68.375 & echo done | cat')])
  t.match(results[0], { status: 'ok', output: 'done\n' })
  t.match(results[1], { status: 'ok' }, 'though somebody goes on writing')
  for (const { duration_ms } of results) t.ok(Number(duration_ms) < 30_000, `${duration_ms} ms`)
  for (const line of ['sleep 66.375', 'sleep 67.375', 'yes 68.375']) t.same(await leftOf(line), [])
})

t.test('case 18: the directory stays from call to call; where it is gone the next says so, once', async (t) => {
  const place = new Place(t)
  const results = await place.call([
    bash("mkdir -p 'd e' && cd 'd e'"),
    bash('pwd'),
    bash('rm -rf "$PWD"'),
    bash('echo hi; pwd'),
    bash('pwd'),
    bash('cd /; exit 7'),
    bash('pwd'),
  ])
  t.match(results[1], { output: `${place.workspace}/d e\n` })
  t.equal(results[3]?.output, `[the working directory ${place.workspace}/d e is gone: commands run in ${place.workspace} now]\nhi\n${place.workspace}\n`)
  t.match(results[4], { output: `${place.workspace}\n` })
  t.match(results[6], { output: '/\n' })
  const lost = await place.call([bash('rm -rf "$PWD"; mkdir ../moved'), bash('pwd'), bash('pwd')])
  t.match(lost[1], { status: 'ok', output: new RegExp(`is gone: commands run in ${place.top} now\\]\\n${place.top}\\n$`) })
  t.match(lost[2], { status: 'ok', output: `${place.top}\n` })
  mkdirSync(place.workspace)
})

t.test('progress bars are what they show in the end', async (t) => {
  const command = String.raw`for i in 1 50 100; do printf '\r%3d%%' $i; done; printf '\nCRLF line\r\nabc\rX\n'`
  t.match(await runner.callOne(...bash(command)), { output: '100%\nCRLF line\nXbc\n' })
  const long = String.raw`for ((i = 0; i < 8000; i++)); do printf '\r%06d of 8000' $i; done; echo`
  const result = await runner.callOne(...bash(long))
  t.equal(result.output, '007999 of 8000\n')
  t.notOk(result.full_output)
})

t.test('a long output keeps its head and tail, between characters, and the whole in a private file', async (t) => {
  const place = new Place(t)
  const command = 'echo BEGIN; yes 漢字漢字漢字😀 | head -3000; echo END; exit 3'
  const result = await place.callOne(...bash(command), ['--max-output', '1k'])
  t.match(result, { status: 'error', exit_code: '3', output: /^BEGIN\n/ })
  t.match(result.output, /\nEND\n\[exit status 3\]$/)
  t.notMatch(result.output, /\ufffd/)
  const [, leftOut, path] = /\n\[(\d+) bytes left out; the whole output is in (.*)\]\n/.exec(result.output) ?? []
  const whole = readFileSync(path as string)
  t.equal(path, result.full_output)
  t.equal(whole.length, 6 + 3000 * 23 + 4)
  t.equal(statSync(path as string).mode & 0o777, 0o600)
  t.equal(statSync(join(path as string, '..')).mode & 0o777, 0o700)
  const shown = Buffer.byteLength(result.output.replace(/\n?\[\d+ bytes left out.*\]\n/, '').replace('[exit status 3]', ''))
  t.ok(Math.abs(shown + Number(leftOut) - whole.length) <= 1)
  t.ok(shown <= 1024)
})

t.test('live output is the same text, whole characters, and capped as the result is', async (t) => {
  const place = new Place(t)
  const input = frames([
    'TOOL_CALL',
    'Bash',
    'c1',
    JSON.stringify({ command: String.raw`printf '\xe6'; sleep 0.1; printf '\xbc\xa2\xff\n'; echo err >&2; yes 漢 | head -20000` }),
  ])
  const all = framesOf((await place.run(input, ['--max-output', '10k'])).stdout).filter(({ type }) => type === 'TOOL_OUTPUT')
  const chunks = all.map((frame) => frame.field(2) as Buffer)
  const text = Buffer.concat(chunks)
  t.match(text.toString(), /^漢\ufffd\n/)
  t.ok(
    chunks.every((chunk) => chunk.equals(Buffer.from(chunk.toString()))),
    'each is valid UTF-8',
  )
  t.ok(text.length <= 10 * 1024 + 2 && text.length > 10 * 1024 - 8, `${text.length}`)
  t.same(new Set(all.map((frame) => `${frame.text(3)} ${frame.text(4)}`)), new Set(['stream stdout', 'stream stderr']))
})

t.test('case 17: output of any size, one line, all on stderr, without end: little memory', { timeout: 300_000 }, async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place)
  const commands = [
    [`yes | head -c ${MEGABYTES}000000; echo END; exit 3`, /\nEND\n\[exit status 3\]$/],
    ["head -c 20000000 /dev/zero | tr '\\0' x; echo END", /xEND\n$/],
    ['(yes | head -c 10000000; echo END) >&2', /\nEND\n$/],
    ['yes 69.375', /\[timed out after 1 s\]$/],
  ] as const
  for (const [id, [command, end]] of commands.entries()) {
    runner.call('Bash', `c${id}`, { command, timeout: command === 'yes 69.375' ? 1 : 100 })
    const { output, full_output } = await runner.result(`c${id}`)
    t.match(output, /\[\d+ bytes left out; the whole output is in/, command)
    t.match(output.slice(-100), end)
    rmSync(full_output as string)
  }
  const [, largest] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${runner.process.pid}/status`, 'utf8')) ?? []
  t.ok(Number(largest) < LARGEST_KB, `${largest} KB`)
  runner.endInput()
  t.same(await runner.ended, [0, null])
  t.same(await leftOf('yes 69.375'), [])
})

t.test('a result of 20 MiB', async (t) => {
  const place = new Place(t)
  const [result, odd] = await place.call(
    [bash("head -c 20971520 /dev/zero | tr '\\0' x"), bash("head -c 25000000 /dev/zero | tr '\\0' '\\377'")],
    ['--max-output', '64m'],
  )
  t.match([result?.output.length, result?.status], [20 * 1024 * 1024, 'ok'])
  t.match(odd, { status: 'ok', output: /^\ufffd{1000}/ })
  t.match(odd?.output.slice(-1000), /^\ufffd{1000}$/)
})

t.test('SIGKILL of the runner leaves neither what a command has started, sessions of its own among it, nor its private directory', async (t) => {
  const place = new Place(t)
  const runner = new LiveRunner(t, place)
  runner.call('Bash', 'c1', { command: 'setsid sleep 71.125 & echo started; sleep 72.125' })
  await runner.untilPrinted('c1', 'started')
  t.ok(readdirSync(place.temporary).length > 0)
  runner.process.kill('SIGKILL')
  for (const line of ['sleep 71.125', 'sleep 72.125']) t.same(await leftOf(line), [])
  await eventually(() => readdirSync(place.temporary).length === 0)
  t.same(readdirSync(place.temporary), [])
})
