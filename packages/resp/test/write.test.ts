import { parseOptions } from '@agentpipe/stage'
import { fieldsOf, frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { write } from '../src/write.js'
import { Started } from './support/started.js'

type Given = Parameters<NonNullable<typeof write.act>>[0]

t.test('one frame of its operands', async (t) => {
  const ended = await run('resp', ['write', 'TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}', 'command', 'ls'])
  t.match(ended, { status: 0, stderr: '' })
  t.same(ended.stdout, frames(['TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}', 'command', 'ls']))
})

t.test('behind TYPE nothing is an option, and no field is touched', async (t) => {
  const fields = [
    '--help',
    '--version',
    '--',
    '-x',
    '-',
    '--x=y',
    '',
    '007',
    '1e3',
    '-5',
    'true',
    '"quoted"',
    "'q'",
    ' a  b ',
    'é漢😀',
    '\r\n',
    '$5\r\n',
    '\\n',
    '\ufffd',
  ]
  const ended = await run('resp', ['write', 'TEXT', ...fields], { input: 'in' })
  t.match(ended, { status: 0, stderr: '' })
  t.same(fieldsOf(ended.stdout), [['TEXT', ...fields.map((field) => (field === '-' ? 'in' : field))]])
})

t.test('-- ends the options before TYPE', async (t) => {
  t.same(fieldsOf((await run('resp', ['write', '--', 'TEXT', '--help'])).stdout), [['TEXT', '--help']])
  t.same(fieldsOf((await run('resp', ['write', '--', 'TEXT', '--', 'x'])).stdout), [['TEXT', '--', 'x']])
})

t.test('an operand that is no UTF-8 keeps its octets', async (t) => {
  const { stdout, status } = await shell(`resp write TEXT é $'a\\xff\\xfeb' $'\\xc3'`)
  t.equal(status, 0)
  t.same(stdout, frames(['TEXT', 'é', Buffer.from([0x61, 0xff, 0xfe, 0x62]), Buffer.from([0xc3])]))
})

t.test('a field - is stdin, byte for byte', async (t) => {
  for (const input of [Buffer.from('a\n\n'), Buffer.from([0, 0xff, 0x0d, 0x0a]), Buffer.alloc(0), Buffer.alloc(200 * 1024, 'é')]) {
    const ended = await run('resp', ['write', 'USER_INPUT', '-', 'image', 'x'], { input })
    t.match(ended, { status: 0, stderr: '' })
    t.ok(ended.stdout.equals(frames(['USER_INPUT', input, 'image', 'x'])))
  }
})

t.test('stdin that comes byte by byte', async (t) => {
  const started = new Started(['write', 'TEXT', '-'])
  await started.drip(Buffer.from('é漢😀\r\n'))
  started.process.stdin.end()
  t.equal(await started.ended, 0)
  t.same(started.output, frames(['TEXT', 'é漢😀\r\n']))
})

t.test('closed stdin, and a stdin that is a directory', async (t) => {
  t.match(await shell('resp write TEXT - <&-'), { status: 0, stdout: frames(['TEXT', '']) })
  t.match(await shell('resp write TEXT - </'), { status: 74, stderr: 'resp: cannot read standard input: it is a directory\n' })
  t.match(await shell('resp write TEXT hi <&-'), { status: 0, stderr: '' })
})

t.test('a frame of the largest field, and none larger; what never ends is not read to the end', async (t) => {
  t.match(await shell('head -c 64M /dev/zero | resp write TEXT - | wc -c'), { status: 0, stdout: Buffer.from(`${64 * 1024 * 1024 + 27}\n`) })
  t.match(await shell('resp write TEXT - </dev/zero'), { status: 64, stdout: Buffer.alloc(0), stderr: /over the limit of 67108864/ })
})

t.test('wrong command lines: a line on stderr, nothing on stdout, 64', async (t) => {
  for (const args of [['write', 'A B'], [], ['nosuch']]) {
    const ended = await run('resp', args)
    t.match(ended, { status: 64, stdout: Buffer.alloc(0), stderr: /^resp: [^\n]+\n$/ }, args.join(' '))
  }
  for (const args of [[], ['text'], [''], ['TEXT', '-', '-'], ['-x', 'TEXT'], ['--foo'], ['-']]) {
    t.throws(
      () => write.act?.(parseOptions('resp', write.options, args, { operandsEndOptions: true }) as Given),
      { status: 64, message: /^[^\n]+$/ },
      args.join(' '),
    )
  }
})
