import { frames, run } from '@agentpipe/testing'
import t from 'tap'

const check = (...parts: (string | Buffer)[]) => run('resp', ['check'], { input: Buffer.concat(parts.map((part) => Buffer.from(part))) })

t.test('nothing is said where all is well', async (t) => {
  const silence = { status: 0, stdout: Buffer.alloc(0), stderr: '' }
  t.match(await check(), silence)
  t.match(await check(frames(['TEXT', ''], ['MY_OWN'], ['STOP', 'because', 'odd'], ['TOOL_CALL', 'X', 'c1', 'no JSON'])), silence)
})

t.test('the first thing that is wrong is named, with its offset', async (t) => {
  const good = frames(['TEXT', 'one'])
  for (const [bad, message] of [
    ['hello', 'expected "*" at byte 23, found "hello"'],
    ['*1\r\n$3\r\nEN', 'truncated at byte 33: the input ends inside the frame that begins at byte 23'],
    [frames(['TOOL_CALL', 'Bash']), 'expected TOOL_CALL with 3 fields (name, id, input) at byte 23, found 1'],
    [frames(['TEXT']), 'expected TEXT with 1 fields (text) at byte 23, found 0'],
  ] as const) {
    t.match(await check(good, bad), { status: 65, stdout: Buffer.alloc(0), stderr: `resp: ${message}\n` })
  }
})
