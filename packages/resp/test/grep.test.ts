import { parseOptions } from '@agentpipe/stage'
import { frames, run } from '@agentpipe/testing'
import t from 'tap'
import { grep } from '../src/grep.js'

const text = ['TEXT', Buffer.from([0xff, 0x0d, 0x0a]), 'own', 'x']
const input = frames(['HELLO', '1', 's'], text, ['TOOL_CALL', 'X'], ['TEXT', ''], ['MY_OWN', 'TEXT'], ['STOP', 'end_turn'])

t.test('frames of the types named pass byte for byte', async (t) => {
  t.match(await run('resp', ['grep', 'TEXT'], { input }), { status: 0, stderr: '', stdout: frames(text, ['TEXT', '']) })
  t.match(await run('resp', ['grep', 'STOP', 'MY_OWN', 'TEXT'], { input }), { stdout: frames(text, ['TEXT', ''], ['MY_OWN', 'TEXT'], ['STOP', 'end_turn']) })
})

t.test('-v passes the others', async (t) => {
  const others = frames(['HELLO', '1', 's'], ['TOOL_CALL', 'X'], ['MY_OWN', 'TEXT'])
  t.match(await run('resp', ['grep', '-v', 'TEXT', 'STOP'], { input }), { status: 0, stdout: others })
  for (const option of ['-v', '--invert', '--inv'])
    t.match(parseOptions('resp', grep.options, [option, 'TEXT', 'STOP']), { options: { invert: true }, operands: ['TEXT', 'STOP'] })
  t.match(await run('resp', ['grep', 'TEXT', 'STOP', '-v'], { input }), { stdout: others })
  t.match(await run('resp', ['grep', '-v', 'NOSUCH'], { input }), { stdout: input })
})

t.test('the status does not tell whether there were any', async (t) => {
  t.match(await run('resp', ['grep', 'THINKING'], { input }), { status: 0, stdout: Buffer.alloc(0), stderr: '' })
})

t.test('a type that no message has and that does not come was mistyped', async (t) => {
  t.match(await run('resp', ['grep', 'TXT'], { input }), { status: 1, stdout: Buffer.alloc(0), stderr: 'resp: no frame of type TXT; did you mean TEXT?\n' })
  t.match(await run('resp', ['grep', 'NOSUCH'], { input }), { status: 1, stderr: 'resp: no frame of type NOSUCH\n' })
  t.match(await run('resp', ['grep', 'TOOL_CAL', 'STOP'], { input }), { status: 0, stderr: /TOOL_CALL\?\n$/ }, 'something was found')
  t.match(await run('resp', ['grep', '-v', 'TXT'], { input: '' }), { status: 0, stderr: /TEXT\?\n$/ })
  t.match(await run('resp', ['grep', 'MY_OWN'], { input }), { status: 0, stderr: '' }, 'any type may come')
})

t.test('what is no type', async (t) => {
  t.match(await run('resp', ['grep', 'TEXT', ''], { input }), { status: 64, stdout: Buffer.alloc(0) })
  for (const args of [[], ['text'], ['TEXT', ''], ['-v'], ['-x', 'TEXT']])
    t.throws(
      () => grep.stage?.(parseOptions('resp', grep.options, args) as Parameters<NonNullable<typeof grep.stage>>[0]),
      { status: 64, message: /./ },
      args.join(' '),
    )
})
