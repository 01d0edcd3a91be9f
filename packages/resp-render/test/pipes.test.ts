import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { frames, run, shell } from '@agentpipe/testing'
import t, { type Test } from 'tap'

function directory(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'render-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

t.test('byte by byte, as it comes through a pipe: case 1', async (t) => {
  const input = frames(['TEXT', 'é漢😀'], ['TEXT', ''], ['TEXT', ' x\r\ny'])
  const drip = 'while IFS= read -r -n1 -d "" byte; do printf %s "$byte"; done | resp-render'
  const { stdout, status } = await shell(`LC_ALL=C; printf %s "$1" | ${drip}`, [input.toString()])
  t.equal(stdout.toString(), 'é漢😀 x\ny\n')
  t.equal(status, 0)
})

t.test('truncated: case 3', async (t) => {
  const input = Buffer.concat([frames(['TEXT', 'one']), Buffer.from('*2\r\n$4\r\nTEXT\r\n$10\r\nhello')])
  const { stdout, stderr, status } = await run('resp-render', ['--color', 'always'], { input })
  t.equal(stdout.toString(), 'one\n', 'what is whole, and no frame')
  t.equal(stderr, 'resp-render: truncated at byte 47: the input ends inside the frame that begins at byte 23\n')
  t.equal(status, 65)
})

t.test('what is wrong is said on a line of its own', async (t) => {
  for (const format of ['ansi', 'text']) {
    const { stdout } = await shell('{ cat; sleep .1; printf "*1"; } | resp-render --format "$1" 2>&1', [format], { input: frames(['TEXT', 'one two']) })
    t.equal(stdout.toString(), 'one two\nresp-render: truncated at byte 29: the input ends inside the frame that begins at byte 27\n', format)
  }
})

t.test('the terminal is left without a style when the input is cut', async (t) => {
  const input = Buffer.concat([frames(['THINKING', 'hm']), Buffer.from('*')])
  const { stdout } = await run('resp-render', ['--color', 'always'], { input })
  t.equal(stdout.toString(), '\x1b[2;3m┊ hm\x1b[0m\n')
})

t.test('somebody prints among the frames: case 4', async (t) => {
  const junk = await run('resp-render', [], { input: `hello\n${frames(['TEXT', 'ok'])}` })
  t.match(junk, { status: 65, stderr: /^resp-render: expected "\*" at byte 0, found "hello\\n/ })
})

t.test('the reader goes away: case 5', async (t) => {
  const file = join(directory(t), 'big.resp')
  writeFileSync(file, Buffer.concat(Array.from({ length: 20_000 }, (_, index) => frames(['TEXT', `line ${index} of a long text\n`]))))
  for (const format of ['ansi', 'text']) {
    const { stdout, stderr, status } = await shell('set -o pipefail; resp-render --format "$2" <"$1" | head -1; echo "$?"', [file, format])
    t.equal(stderr, '')
    t.match(stdout.toString(), format === 'ansi' ? /^line 0 of a long text\n0\n$/ : /^line 0/)
    t.equal(status, 0)
  }
  t.match(await shell('set -o pipefail; resp-render <"$1" | true', [file]), { status: 0, stderr: '' })
})

t.test('a full disk', async (t) => {
  for (const format of ['ansi', 'text', 'json']) {
    const { status, stderr } = await shell('resp-render --format "$1" >/dev/full', [format], { input: frames(['TEXT', 'hello']) })
    t.match({ status, stderr }, { status: 74, stderr: 'resp-render: cannot write to standard output: no space left on device\n' }, format)
  }
})

/** Goes on once something is shown. */
const SHOWN = 'until [ -s out ]; do sleep .05; done'

t.test('SIGTERM: what was held back is shown', async (t) => {
  const cwd = directory(t)
  const line = `{ cat; ${SHOWN}; kill -TERM $(cat pid); while kill -0 $(cat pid) 2>&-; do sleep .05; done; } | (echo $BASHPID >pid; exec resp-render >out)`
  await shell(line, [], { cwd, input: frames(['TEXT', 'one two']) })
  t.equal(readFileSync(join(cwd, 'out'), 'utf8'), 'one two\n')
})

t.test('SIGINT: it goes on to the end of its input', async (t) => {
  const cwd = directory(t)
  writeFileSync(join(cwd, 'rest'), frames(['TEXT', 'two'], ['STOP', 'interrupted']))
  const line = `{ cat; ${SHOWN}; kill -INT $(cat pid); cat rest; } | (echo $BASHPID >pid; exec resp-render >out)`
  await shell(line, [], { cwd, input: frames(['TEXT', 'one ']) })
  t.equal(readFileSync(join(cwd, 'out'), 'utf8'), 'one two\n\n■ Stopped: interrupted\n')
})

t.test('shown at once, through a pipe too', async (t) => {
  // The second frame is not sent before the first one was seen.
  const writer = '{ cat; read -r go <back; cat third; }'
  const reader = '{ IFS= read -r -n5 text; echo "[$text]"; echo go >back; cat; }'
  const hello = frames(['HELLO', '1', 's'], ['TEXT', 'first second'])
  for (const format of ['ansi', 'text']) {
    const cwd = t.testdir({ third: frames(['TEXT', ' third']) })
    const { stdout } = await shell(`mkfifo back; ${writer} | resp-render --format ${format} | ${reader}`, [], { cwd, input: hello })
    t.equal(stdout.toString(), '[first]\n second third\n')
  }
})

t.test('what frames say is no exit status', async (t) => {
  const { status } = await run('resp-render', [], {
    input: frames(['ERROR', 'bad'], ['TOOL_RESULT', 'c', 'Bash', '', 'status', 'error', 'exit_code', '3'], ['STOP', 'error']),
  })
  t.equal(status, 0)
  t.match(await run('resp-render', [], { input: frames(['TOOL_CALL', 'Bash']) }), { status: 65, stderr: /TOOL_CALL with 3 fields/ })
})
