import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, frames, run, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { CommandLines } from '../src/command-lines.js'

const given = async (input: string | Buffer, args: string[] = [], cwd = '/') => {
  const { status, stdout, stderr } = await run('resp', ['commands', ...args], { input, cwd })
  return { status, frames: fieldsOf(stdout), stderr }
}

t.test('commands pass; what is none is told with its line, and the next one counts', async (t) => {
  const lines = [
    '{"type":"user_input","text":"ü"}',
    '',
    'no JSON',
    '{"type":"text","text":"x"}',
    '{"type":"interrupt","nonce":"1","call":"c"}',
    '{"type":"user_input"}',
    '[]',
    '{"type":"nosuch"}',
    `${'['.repeat(200_000)}`,
    '{"type":"user_input","text":"no LF"}',
  ]
  const { status, frames, stderr } = await given(lines.join('\n'))
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.same(
    frames.map(([type, name]) => [type, type === 'CONTROL' ? name : '']),
    ['USER_INPUT', 'CONTROL', 'CONTROL', 'INTERRUPT', 'CONTROL', 'CONTROL', 'CONTROL', 'CONTROL', 'USER_INPUT', 'END'].map((type) => [
      type,
      type === 'CONTROL' ? 'refused' : '',
    ]),
  )
  const reasons = frames.filter(([type]) => type === 'CONTROL').map(([, , why]) => why)
  t.match(reasons, [/line 3: not JSON: /, /line 4: "text" is no command$/, /line 6: /, /line 7: /, /line 8: /, /line 9: not JSON: /])
})

t.test('bytes that are not UTF-8, and nothing at all', async (t) => {
  t.match(await given(Buffer.from([0x7b, 0xff, 0x0a])), { status: 0, frames: [['CONTROL', 'refused', 'standard input, line 1: not UTF-8'], ['END']] })
  t.same((await given('')).frames, [['END']])
})

t.test('frames are none, however they are cut', async (t) => {
  const given = frames(['USER_INPUT', 'hi'], ['END'])
  const ended = await run('resp', ['commands'], { input: given })
  t.match(ended, { status: 65, stdout: frames(['END']), stderr: 'resp: standard input: expected lines of JSON, found frames: resp json makes lines of them\n' })
  const lines = new CommandLines(() => t.fail('a frame is no line'))
  lines.push(given.subarray(0, 1))
  t.throws(() => lines.push(given.subarray(1)), { status: 65, message: /found frames/ })
  t.match(await run('bash', ['-c', 'resp commands </']), {
    status: 74,
    stdout: frames(['END']),
    stderr: 'resp: cannot read standard input: it is a directory\n',
  })
})

t.test('requests for permission wait for their answers, and for the end of the lines', async (t) => {
  const cwd = t.testdir()
  execFileSync('mkfifo', [join(cwd, 'back')])
  const child = spawn('resp', ['commands', 'back'], { cwd, env: testEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stdin.write('{"type":"permission","tool_use_id":"c1","decision":"allow"}\n{"type":"end"}\n')
  // Standard input stays open: END ends it.
  writeFileSync(join(cwd, 'back'), frames(['TEXT', 'a'], ['PERMISSION_REQUEST', 'c2', 'Bash', 'r'], ['STOP', 'end_turn']))
  t.same(await once(child, 'close'), [0, null])
  t.same(
    fieldsOf(Buffer.concat(chunks))
      .map(([type]) => type)
      .sort(),
    ['END', 'PERMISSION', 'PERMISSION_REQUEST', 'STOP', 'TEXT'],
  )
})

t.test('a way back that is malformed: 65; one that is not there: 66', async (t) => {
  const cwd = t.testdir({ bad: 'x' })
  t.match(await given('', ['bad'], cwd), { status: 65, stderr: /^resp: .*byte 0/ })
  t.match(await given('', ['none'], cwd), { status: 66 })
  t.match(await given('', ['-']), { status: 64 })
})
