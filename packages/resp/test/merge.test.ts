import { execFileSync, spawn } from 'node:child_process'
import { closeSync, createWriteStream, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, fieldsOf, frames, root, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { Started } from './support/started.js'

/** A directory with the FIFO `back`. */
function ring(t: { testdir(): string }): string {
  const directory = t.testdir()
  execFileSync('mkfifo', [join(directory, 'back')])
  return directory
}

t.test('files, one after the other or side by side; END only behind -', async (t) => {
  const cwd = t.testdir({ a: frames(['TEXT', 'a']), b: frames(['TEXT', 'b']), empty: '' })
  const types = async (...args: string[]) =>
    fieldsOf((await run('resp', ['merge', ...args], { cwd, input: frames(['TEXT', 'in']) })).stdout).map(([type, text]) => text ?? type)
  t.same((await types('a', 'b')).sort(), ['a', 'b'])
  t.same((await types('a', 'a', 'empty')).sort(), ['a', 'a'])
  t.same(await types('empty'), [])
  t.same(await types('-'), ['in', 'END'])
  t.same((await types('-', 'a')).sort(), ['END', 'a', 'in'])
})

/** `make soak` asks for more. */
const times = Number(process.env.MERGE_TIMES ?? 3)

t.test('a ring whose head leaves after END: every status is 0, however often', async (t) => {
  const cwd = ring(t)
  const taken = frames(['USER_INPUT', 'fix'], ['END']).length
  const line = `for i in $(seq ${times}); do resp write USER_INPUT fix | resp merge - back | head -c ${taken} | tee -i back | resp check; echo "$i \${PIPESTATUS[*]}"; done`
  const { stdout, stderr } = await shell(line, [], { cwd })
  t.same(
    stdout.toString().trimEnd().split('\n'),
    Array.from({ length: times }, (_, index) => `${index + 1} 0 0 0 0 0`),
  )
  t.equal(stderr, '')
})

t.test('a FIFO that nobody writes yet holds nothing up; what comes by it later is passed', async (t) => {
  const cwd = ring(t)
  const merge = new Started(['merge', '-', 'back'], { cwd })
  merge.process.stdin.write(frames(['USER_INPUT', 'hi']))
  t.ok(await eventually(() => merge.output.equals(frames(['USER_INPUT', 'hi']))))
  merge.process.stdin.end()
  t.ok(await eventually(() => merge.output.equals(frames(['USER_INPUT', 'hi'], ['END']))), 'END at the end of -, though back goes on')
  t.equal(merge.process.exitCode, null)
  const back = openSync(join(cwd, 'back'), 'w')
  writeSync(back, frames(['TEXT', 'round']))
  t.ok(await eventually(() => fieldsOf(merge.output).length === 3), 'without waiting for more')
  writeSync(back, frames(['STOP', 'end_turn']))
  closeSync(back)
  t.equal(await merge.ended, 0)
  t.same(fieldsOf(merge.output), [['USER_INPUT', 'hi'], ['END'], ['TEXT', 'round'], ['STOP', 'end_turn']])
})

t.test('a FIFO whose writer leaves as soon as we have opened it', async (t) => {
  const cwd = ring(t)
  writeFileSync(join(cwd, 'one'), frames(['TEXT', 'one']))
  for (let count = 0; count < 3; count++) {
    t.match(await shell('cat one >back & resp merge back', [], { cwd, timeout: 120_000 }), { status: 0, stdout: frames(['TEXT', 'one']) })
    t.match(await shell(': >back & resp merge back', [], { cwd, timeout: 120_000 }), { status: 0, stdout: Buffer.alloc(0) })
  }
})

t.test('a frame that is not whole yet holds up nothing of the others, and is not mixed with them', async (t) => {
  const cwd = ring(t)
  const merge = new Started(['merge', '-', 'back'], { cwd })
  const back = createWriteStream(join(cwd, 'back'))
  const { stdin } = merge.process
  const [text, thinking] = [frames(['TEXT', 'from stdin\r\n']), frames(['THINKING', 'from back'])]
  const arrives = async (...expected: Buffer[]) => t.ok(await eventually(() => merge.output.equals(Buffer.concat(expected)), 20_000))
  for (let at = 1; at < text.length; at++) {
    back.write(thinking.subarray(0, at))
    stdin.write(text)
    if (at === 1) await arrives(text)
    stdin.write(text.subarray(0, at))
    back.write(thinking.subarray(at))
    if (at === 1) await arrives(text, thinking)
    stdin.write(text.subarray(at))
  }
  stdin.end()
  back.end()
  t.equal(await merge.ended, 0)
  const types = fieldsOf(merge.output).map(([type]) => type)
  t.equal(types.filter((type) => type === 'TEXT').length, 2 * (text.length - 1))
  t.equal(types.filter((type) => type === 'THINKING').length, text.length - 1)
})

t.test('large frames by both ways at once, to a slow reader', async (t) => {
  const cwd = ring(t)
  writeFileSync(join(cwd, 'big'), frames(['TEXT', Buffer.alloc(4 * 1024 * 1024, 'x')]))
  const { stdout, status } = await shell('cat big big big >back & cat big big big | resp merge - back | (sleep 1; resp stat --json); wait', [], {
    cwd,
    timeout: 120_000,
  })
  t.equal(status, 0)
  t.match(JSON.parse(stdout.toString()), {
    frames: 7,
    types: [
      { type: 'TEXT', frames: 6 },
      { type: 'END', frames: 1 },
    ],
  })
})

t.test('a malformed input is named with its offset; the others go on; END is still sent', async (t) => {
  const cwd = ring(t)
  writeFileSync(join(cwd, 'good'), frames(['TEXT', 'good']))
  writeFileSync(join(cwd, 'bad'), Buffer.concat([frames(['TEXT', 'one']), Buffer.from('junk\x1b[2J')]))
  writeFileSync(join(cwd, 'cut'), Buffer.from('*2\r\n$4\r\nTEXT\r\n$10\r\nhello'))
  const ended = await run('resp', ['merge', 'bad', 'good', 'cut', '-'], { cwd, input: Buffer.from('$') })
  t.equal(ended.status, 65)
  const lines = ended.stderr.trimEnd().split('\n').sort()
  t.same(lines, [
    'resp: bad: expected "*" at byte 23, found "junk\\x1b[2J"',
    'resp: cut: truncated at byte 24: the input ends inside the frame that begins at byte 0',
    'resp: standard input: expected "*" at byte 0, found "$"',
  ])
  const got = fieldsOf(ended.stdout)
  t.equal(got.filter(([type]) => type === 'TEXT').length, 2)
  t.equal(got.filter(([type]) => type === 'ERROR').length, 3)
  t.equal(got.filter(([type]) => type === 'END').length, 1)
})

t.test('who writes malformed frames into a FIFO finds it closed', async (t) => {
  const cwd = ring(t)
  const merge = new Started(['merge', '-', 'back'], { cwd })
  const { stdout } = await shell(
    `trap '' PIPE; exec 5>back; printf junk >&5; for i in $(seq 100); do sleep 0.05; printf more 2>/dev/null >&5 || { echo closed; break; }; done`,
    [],
    { cwd },
  )
  t.equal(stdout.toString(), 'closed\n')
  merge.process.stdin.end(frames(['TEXT', 'still here']))
  t.equal(await merge.ended, 65)
  t.match(fieldsOf(merge.output)[1], ['TEXT', 'still here'])
})

t.test('the reader is gone: 0, at once and quietly', async (t) => {
  const cwd = ring(t)
  const merge = new Started(['merge', '-', 'back'], { cwd })
  merge.process.stdout.destroy()
  const writing = setInterval(() => merge.process.stdin.write(frames(['TEXT', 'x'])), 10)
  t.equal(await merge.ended, 0)
  clearInterval(writing)
  t.equal(merge.stderr, '')
})

t.test('SIGINT changes nothing, however often; SIGTERM ends it', async (t) => {
  const cwd = ring(t)
  const merge = new Started(['merge', '-', 'back'], { cwd })
  merge.process.stdin.write(frames(['TEXT', 'one']))
  await eventually(() => merge.output.length > 0)
  for (let count = 0; count < 5; count++) merge.process.kill('SIGINT')
  merge.process.stdin.write(frames(['TEXT', 'two']))
  t.ok(await eventually(() => merge.output.equals(frames(['TEXT', 'one'], ['TEXT', 'two']))))
  merge.process.kill('SIGTERM')
  await merge.ended
  t.equal(merge.process.signalCode, 'SIGTERM')
})

t.test('its owner is gone: it leaves with 69', async (t) => {
  const cwd = ring(t)
  const ended = await shell('sleep 0.3 | { exec 8<&0; AGENTPIPE_WATCH_FD=8 resp merge back </dev/null; echo $?; }', [], { cwd, timeout: 120_000 })
  t.match(ended, { status: 0, stdout: Buffer.from('69\n'), stderr: '' })
})

t.test('wrong command lines, and files that are not there, before anything is read', async (t) => {
  for (const args of [[], ['-', '-'], ['--foo', '-']]) t.match(await run('resp', ['merge', ...args]), { status: 64, stdout: Buffer.alloc(0) })
  t.match(await run('resp', ['merge', '-', '/nosuch'], { input: frames(['END']) }), {
    status: 66,
    stdout: Buffer.alloc(0),
    stderr: 'resp: cannot open /nosuch: no such file or directory\n',
  })
  t.match(await run('resp', ['merge', '/'], {}), { status: 74, stderr: 'resp: cannot read /: it is a directory\n' })
})

t.test('process substitution, and a socket as stdin', async (t) => {
  t.same((await shell('resp merge <(resp write TEXT a) <(resp write TEXT a)')).stdout, frames(['TEXT', 'a'], ['TEXT', 'a']))
  const child = spawn(
    'python3',
    [
      '-c',
      'import socket,subprocess,sys\na,b=socket.socketpair()\np=subprocess.Popen(["resp","merge","-"],stdin=b)\nb.close()\na.sendall(b"*1\\r\\n$1\\r\\nX\\r\\n")\na.close()\nsys.exit(p.wait())',
    ],
    {
      env: { ...process.env, PATH: `${root}/dist/bin:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const output: Buffer[] = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
  t.same(Buffer.concat(output), frames(['X'], ['END']))
})
