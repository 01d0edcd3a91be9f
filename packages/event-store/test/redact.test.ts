import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FrameDecoder } from '@agentpipe/frame'
import { buildToolCall } from '@agentpipe/message'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { HeldFrames } from '../src/held-frames.js'
import { Redaction } from '../src/redaction.js'
import { linesOf, Store } from './support/store.js'

const SECRET = /sesame-\d+/

t.test('what matches never reaches the disk, in any field of any event; frames pass as they are', async (t) => {
  const store = new Store(t)
  const input = Buffer.concat([
    frames(
      ['HELLO', '1', 's'],
      ['USER_MESSAGE', 'the key is sesame-12'],
      ['TEXT', 'your key ses'],
      ['TOOL_OUTPUT', 'c1', 'x sesame'],
      ['TEXT', 'ame-3'],
      ['TEXT', '45, and'],
      ['TOOL_OUTPUT', 'c1', '-77\n'],
      ['TEXT', ' more'],
    ),
    buildToolCall('Bash', 'c1', '{"command":"echo \\u0073esame-1","deep":[{"a":"sesame-2"}]}'),
    frames(
      ['TOOL_RESULT', 'c1', 'Bash', Buffer.from('\xffsesame-9\xfe', 'latin1'), 'summary', 'sesame-1', 'unknown', 'sesame-4'],
      ['ERROR', 'sesame-5'],
      ['TEXT', 'end sesame-'],
      ['TEXT', '6'],
    ),
  ])
  const ended = await store.run(['--redact', SECRET.source, '--redact', 'and more'], { input })
  t.match(ended, { status: 0, stderr: '' })
  t.ok(ended.stdout.equals(input))
  const directory = dirname(await store.log('s'))
  for (const name of readdirSync(directory)) t.notMatch(readFileSync(join(directory, name), 'latin1'), /sesame-|\\u0073/)
  const records = await store.records('s')
  t.equal(records.length, 13)
  const said = records.filter(({ type }) => type === 'text').map(({ text }) => text)
  t.same(said, ['your key [redacted]', '', ', [redacted]', '', 'end [redacted]', ''])
  t.same(
    records.filter(({ type }) => type === 'tool_output').map(({ chunk }) => chunk),
    ['x [redacted]', '\n'],
  )
  t.match(
    records.find(({ type }) => type === 'tool_call'),
    { input: { command: 'echo [redacted]', deep: [{ a: '[redacted]' }] }, extra: undefined },
  )
  const lines = await store.run(['--redact', SECRET.source, '--stream-json', '--session', 't'], { input })
  t.notMatch(lines.stdout.toString('latin1'), /sesame-|\\u0073/)
})

t.test('a pattern that is none, or matches everything, is refused, and not repeated', async (t) => {
  const store = new Store(t)
  for (const pattern of ['(sesame', 'x*']) {
    const { status, stderr } = await store.run([], { input: frames(['TEXT', 'x']), env: { AGENTPIPE_EVENT_STORE_REDACT: pattern } })
    t.equal(status, 64)
    t.match(stderr, /^event-store: --redact: [^\n]*\n$/)
    t.notMatch(stderr, /sesame/)
  }
  t.same(store.sessions(), [])
})

t.test('a secret in pieces: the end of it on the next line of a piece, both streams of a command, octets that are no text', async (t) => {
  const store = new Store(t)
  const texts = async (pattern: string, ...input: string[][]) => {
    const { stdout } = await store.run(['--redact', pattern, '--stream-json'], { input: frames(...input) })
    const records = linesOf(stdout.toString()).map((line) => JSON.parse(line))
    return records.map(({ text, chunk }) => text ?? chunk)
  }
  t.same(await texts('sk-[a-z]+', ['TEXT', 'key sk-ab'], ['TEXT', 'cdef\nef sk-q'], ['TEXT', 'rst\n']), ['key [redacted]', '\nef [redacted]', '\n'])
  const output = (chunk: string, stream: string) => ['TOOL_OUTPUT', 'c1', chunk, 'stream', stream]
  t.same(await texts('sk-[a-z]+', output('sk-ab', 'stdout'), output('warning\n', 'stderr'), output('cd\n', 'stdout')), ['[redacted]', 'warning\n', '\n'])
  const octets = frames(['TEXT', 'sk-ab'], ['TEXT', Buffer.from('cd\xff sk-e', 'latin1')], ['TEXT', 'f\n'])
  const { stdout } = await store.run(['--redact', 'sk-[a-z]+', '--stream-json'], { input: octets })
  const [first, second, third] = linesOf(stdout.toString()).map((line) => JSON.parse(line))
  t.match([first.text, Buffer.from(second.text_base64, 'base64').toString('latin1'), third.text], ['[redacted]', '\xff [redacted]', '\n'])
})

t.test('what waits is no more than a line, and nothing that somebody has to answer', async (t) => {
  const decode = (bytes: Buffer) => {
    const all: Parameters<HeldFrames['take']>[0][number][] = []
    new FrameDecoder().push(bytes, (frame) => all.push(frame))
    return all
  }
  const texts = (given: ReturnType<typeof decode>) => given.map((frame) => frame.text(1))
  const held = new HeldFrames(new Redaction(['se.ret']))
  t.same(texts(held.take(decode(frames(['TEXT', 'a'], ['TEXT', 'b\nc'], ['TEXT', 'd'])))), ['a'])
  t.same(texts(held.take(decode(frames(['TEXT', '\n'])))), ['b\nc', 'd', '\n'])
  t.same(texts(held.take(decode(frames(['TOOL_OUTPUT', 'c', 'Sure? '], ['PERMISSION_REQUEST', 'd', 'Bash', 'rule'])))), ['c', 'd'])
  const endless = decode(frames(...Array.from({ length: 20 }, (_, index) => ['TEXT', `${index === 19 ? '' : 'x'.repeat(100_000)}se`])))
  t.equal(held.take(endless).length, 18, 'a line without end')
  t.same(texts(held.take(decode(frames(['TEXT', 'cret'])))), [])
  t.same(
    held.rest().map((frame) => held.recorded(frame).text(1)?.slice(-10)),
    ['xxxxxxxxse', '[redacted]', ''],
    'what may still be the beginning of a match waits',
  )
  const large = new HeldFrames(new Redaction(['se.ret']))
  t.same(large.take(decode(frames(['TEXT', `${'x'.repeat(1_000_000)}se`]))), [], 'one large piece waits like any other')
  const [first, second] = large.take(decode(frames(['TEXT', 'cret\n'])))
  t.same(
    [first, second].map((frame) => frame && large.recorded(frame).text(1)?.slice(-11)),
    ['x[redacted]', '\n'],
  )
  const key = new HeldFrames(new Redaction(['BEGIN[^]*?END']))
  t.same(key.take(decode(frames(['TEXT', 'BEGIN\n'], ['TEXT', 'x\nEND\n']))), [])
  const given = key.take(decode(frames(['STOP', 'end_turn'])))
  t.same(
    given.map((frame) => key.recorded(frame).text(1)),
    ['[redacted]', '\n', 'end_turn'],
  )
})

t.test('a stage that is told to leave records what it holds', async (t) => {
  const store = new Store(t)
  const child = store.start(['--session', 's', '--redact', SECRET.source])
  child.stdin.write(frames(['USER_MESSAGE', 'x'], ['TEXT', 'half a line with sesame-1']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGTERM')
  await new Promise((resolve) => child.on('close', resolve))
  t.same((await store.records('s')).at(-1)?.text, 'half a line with [redacted]')
})
