import { setTimeout as sleep } from 'node:timers/promises'
import { fixture, frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { CALLS_ONCE, says } from './support/model.js'
import { Ring } from './support/ring.js'

t.test('input that drips in byte by byte is the same input', async (t) => {
  // Nothing comes round, which would do so in the middle of a frame.
  const ring = new Ring(t, says('Hi.'), { args: ['--no-tools'] })
  for (const byte of frames(['USER_INPUT', 'é漢😀'], ['NEW_TYPE', ''], ['USER_INPUT', '\r\n'])) {
    ring.write(Buffer.of(byte))
    await sleep(1)
  }
  ring.send(['END'])
  t.match(await ring.ended, { status: 69, stderr: '' })
  t.same(ring.all('USER_MESSAGE'), [
    ['USER_MESSAGE', 'é漢😀'],
    ['USER_MESSAGE', '\r\n'],
  ])
})

t.test('input that ends inside a frame: an ERROR, and status 65', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(['USER_INPUT', 'hi'])
  await ring.until('STOP')
  ring.write(Buffer.from('*2\r\n$4\r\nTE'))
  ring.end()
  t.match(await ring.ended, { status: 65, stderr: /^agent-loop: truncated at byte \d+: .*\n$/ })
  t.match(ring.all('ERROR'), [['ERROR', /truncated/, 'code', 'malformed']])
})

t.test('a known type with too few fields on the back edge is malformed, whether it is acted on or not', async (t) => {
  for (const bad of [['TEXT'], ['USER_INPUT'], ['TOOL_RESULT', 'c1'], ['HISTORY', 'lower'], ['HISTORY', 'TEXT'], ['HISTORY']]) {
    const ring = new Ring(t, says('Hi.'), { tools: [] })
    ring.send(bad)
    t.match(await ring.ended, { status: 65, stderr: /^agent-loop: expected .* at byte 0, found .*\n$/ }, bad.join(' '))
  }
})

t.test('tools that were defined on a ring that broke before HELLO came round cannot be called', async (t) => {
  const ring = new Ring(t, CALLS_ONCE)
  ring.send(['TOOL_DEF', 'Do', 'does it', '{}'], ['USER_INPUT', 'hi'])
  ring.end()
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.match(ring.all('ERROR'), [['ERROR', 'a call of Do was not made: there are no tools', 'code', 'bad_call']])
})

t.test('a tool that is defined after HELLO can be called', async (t) => {
  const ring = new Ring(t, CALLS_ONCE, { tools: [], answer: (name, id) => [['TOOL_RESULT', id, name, 'late']] })
  await ring.until('HELLO')
  ring.send(['TOOL_DEF', 'Do', 'does it', '{}'], ['USER_INPUT', 'hi'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(ring.all('TOOL_RESULT'), [])
})

t.test('inputs that come while a tool runs wait for their turns, in order', async (t) => {
  const ring = new Ring(t, Buffer.concat([CALLS_ONCE, says('Two.'), says('Three.')]), { tools: ['Do'] })
  ring.send(['USER_INPUT', '1'])
  await ring.until('TOOL_CALL')
  ring.send(['USER_INPUT', '2'], ['USER_INPUT', '3'], ['END'])
  await sleep(200)
  t.equal(ring.all('USER_MESSAGE').length, 1)
  ring.send(['TOOL_RESULT', 'c1', 'Do', 'ok'])
  t.match(await ring.ended, { status: 0 })
  t.same(
    ring.sent.filter(([type]) => type === 'USER_MESSAGE' || type === 'STOP').map(([, text]) => text),
    ['1', 'end_turn', '2', 'end_turn', '3', 'end_turn'],
  )
})

t.test('CONTROL is acted on between turns, in its place among the inputs', async (t) => {
  const ring = new Ring(t, Buffer.concat([CALLS_ONCE, says('Two.')]), { tools: ['Do'] })
  ring.send(['USER_INPUT', '1'])
  await ring.until('TOOL_CALL')
  ring.send(['CONTROL', 'clear', ''], ['CONTROL', '__proto__', ''], ['USER_INPUT', '2'], ['END'])
  await sleep(100)
  t.same(ring.all('ERROR'), [])
  ring.send(['TOOL_RESULT', 'c1', 'Do', 'ok'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.same(ring.types().slice(-6), ['CONTEXT_UPDATE', 'ERROR', 'USER_MESSAGE', 'TEXT', 'USAGE', 'STOP'])
  t.match(ring.all('ERROR'), [['ERROR', 'there is no CONTROL "__proto__": compact, model, clear', 'code', 'control']])
})

t.test('interrupts that come twice, and when nothing goes on', async (t) => {
  const ring = new Ring(t, Buffer.concat([says('One.'), says('word ', 500_000), says('Three.')]), { tools: [] })
  ring.send(['USER_INPUT', '1'])
  await ring.until('STOP')
  ring.kill('SIGINT')
  ring.send(['INTERRUPT', 'idle'])
  await ring.until('INTERRUPT')
  ring.send(['USER_INPUT', '2'])
  await ring.until('TEXT', 2)
  ring.kill('SIGINT')
  ring.send(['INTERRUPT', 'a'], ['INTERRUPT', 'b'])
  ring.kill('SIGINT')
  t.same(await ring.until('STOP', 2), ['STOP', 'interrupted'])
  ring.send(['USER_INPUT', '3'], ['END'])
  t.match(await ring.ended, { status: 0, stderr: '' })
  t.equal(ring.all('STOP').length, 3)
  t.same(ring.all('INTERRUPT').filter(([, nonce]) => nonce === 'a' || nonce === 'b' || nonce === 'idle').length, 3)
})

t.test('INTERRUPT while HELLO is waited for; one of a single call ends no turn', async (t) => {
  const ring = new Ring(t, says('Hi.'), { args: ['--once'] })
  ring.send(['USER_INPUT', 'hi'])
  await ring.until('USER_MESSAGE')
  ring.send(['INTERRUPT', 'n1', 'call', 'c1'])
  await ring.until('INTERRUPT')
  t.same(ring.all('STOP'), [])
  ring.send(['INTERRUPT', 'n2'])
  t.same(await ring.until('STOP'), ['STOP', 'interrupted'])
  ring.end()
  t.match(await ring.ended, { status: 130, stderr: '' })
})

t.test('SIGINT before anything was asked: the status says so', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  await ring.until('HELLO')
  ring.kill('SIGINT')
  await ring.settled()
  ring.send(['END'])
  t.match(await ring.ended, { status: 130, stderr: '' })
})

t.test('who is told to leave begins no other turn', async (t) => {
  const ring = new Ring(t, Buffer.concat([CALLS_ONCE, says('Two.')]), { tools: ['Do'] })
  ring.send(['USER_INPUT', '1'], ['USER_INPUT', '2'])
  await ring.until('TOOL_CALL')
  ring.kill('SIGTERM')
  t.match(await ring.ended, { signal: 'SIGTERM' })
  t.equal(ring.all('USER_MESSAGE').length, 1)
  t.same(ring.sent.at(-1), ['STOP', 'interrupted'])
})

t.test('the same frame again is another frame: none goes round twice', async (t) => {
  const ring = new Ring(t, says('Hi.'), { tools: [] })
  ring.send(['PERMISSION_REQUEST', 'c1', 'Bash', 'ask'], ['PERMISSION_REQUEST', 'c1', 'Bash', 'ask'])
  await ring.until('PERMISSION', 2)
  ring.send(['PROMPT', 'a', '1'])
  await ring.until('PROMPT')
  await sleep(100)
  ring.send(['PROMPT', 'a', '1'], ['END'])
  t.match(await ring.ended, { status: 0 })
  t.same(ring.types(), ['HELLO', 'PERMISSION', 'PERMISSION', 'PROMPT', 'PROMPT'])
})

t.test('a directory that has been removed is not the end', async (t) => {
  const line = 'cd "$1" && rmdir "$1" && agent-loop --no-tools --from "$2" 2>/dev/null'
  const ended = await shell(line, [t.testdir({ gone: {} }).concat('/gone'), fixture('demo', 'in.resp')], { input: frames(['END']) })
  t.equal(ended.status, 0)
  t.match(ended.stdout.toString(), /HELLO/)
  t.notMatch(ended.stdout.toString(), /cwd/)
})

t.test('--help fits a screen, and its examples run as they stand', async (t) => {
  const help = (await run('agent-loop', ['--help'])).stdout.toString().trimEnd().split('\n')
  t.ok(help.length <= 24)
  t.ok(help.slice(0, -2).every((line) => line.length <= 80))
  const cwd = t.testdir()
  for (const example of help.slice(-2)) {
    const ended = await shell(`set -o pipefail; ${example}`, [], { cwd })
    t.match(ended, { stderr: '' }, example)
    t.match(ended.stdout.toString(), /\S/)
  }
})

t.test('a capture that lacks a field is refused before anything is sent', async (t) => {
  const capture = t.testdir({ 'model.resp': frames(['TEXT', 'a'], ['TEXT']) })
  const ended = await run('agent-loop', ['--from', `${capture}/model.resp`], { input: frames(['USER_INPUT', 'hi']) })
  t.match(ended, { status: 65, stderr: /^agent-loop: \S+model.resp: expected TEXT with 1 fields \(text\) at byte 21, found 0\n$/ })
  t.equal(ended.stdout.length, 0)
})
