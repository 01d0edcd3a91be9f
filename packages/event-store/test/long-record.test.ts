import { writeFileSync } from 'node:fs'
import { encodeFrame, type FieldValue, Frame } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { isLong, recordPieces } from '../src/long-record.js'
import { recordLine } from '../src/record.js'
import { linesOf, Store } from './support/store.js'

const TIME = '2026-12-01T09:30:00.123Z'
const MEGABYTE = 1024 * 1024

function frameOf(fields: readonly FieldValue[]): Frame {
  const bytes = encodeFrame([...fields])
  return new Frame(bytes, 0, bytes.length, 0)
}

t.test('a long event has the same line in pieces as at once', async (t) => {
  const ugly = 'żółć "q" \\ \n\r\t\0\x1b\x7f\x85\u2028\u202e\ufeff😀é'.repeat(20_000)
  const octets = Buffer.alloc(2 * MEGABYTE + 1, 0xe9)
  for (const [name, fields, inPieces] of [
    ['text', ['TEXT', 'x'.repeat(2 * MEGABYTE)], true],
    ['text of all sorts', ['USER_MESSAGE', ugly, 'image', ugly, 'unknown', ugly], true],
    ['octets', ['TOOL_RESULT', 'c1', 'Bash', octets, 'summary', 'x', 'more', octets], true],
    ['attributes in another order', ['TOOL_RESULT', 'c1', 'Bash', 'out', 'full_output', 'x', 'status', ugly, 'z', 'y', ugly, 'x', 'left'], true],
    ['a long number', ['USAGE', '1'.repeat(2 * MEGABYTE), '2', '3', '4'], true],
    ['many short fields', ['ERROR', ...Array.from({ length: 1001 }, () => 'x'.repeat(1100))], true],
    ['control characters', ['TEXT', '\0'.repeat(2 * MEGABYTE)], false],
    ['JSON', ['TOOL_CALL', 'Bash', 'c1', JSON.stringify({ command: 'x'.repeat(2 * MEGABYTE) })], false],
  ] as const) {
    const frame = frameOf(fields)
    t.ok(isLong(frame), name)
    const pieces = recordPieces(frame, 7, TIME)
    t.equal(pieces !== undefined, inPieces, name)
    if (pieces !== undefined) t.ok(Buffer.concat([...pieces]).equals(Buffer.from(recordLine(frame, 7, TIME))), name)
  }
  t.notOk(isLong(frameOf(['TEXT', 'x'.repeat(MEGABYTE / 2)])))
})

t.test('long events among others: in order, printed as they are recorded, and none of one that does not fit', async (t) => {
  const store = new Store(t)
  const long = `${'long '.repeat(300_000)}end`
  const input = frames(['TEXT', 'a'], ['PROMPT', '> ', '0'], ['TEXT', long], ['TEXT', 'b'], ['ERROR', long], ['STOP', 'end_turn'])
  writeFileSync(store.path('input'), input)
  const ended = await store.shell('event-store --session s --stream-json=3 3>"$1" <"$2" | cmp - "$2" && cmp "$1" "$(event-store path s)"', [
    store.path('lines'),
    store.path('input'),
  ])
  t.match(ended, { status: 0, stderr: '' })
  t.same(
    (await store.records('s')).map(({ seq, type }) => [seq, type]),
    [
      [1, 'text'],
      [2, 'text'],
      [3, 'text'],
      [4, 'error'],
      [5, 'stop'],
    ],
  )
  const full = await store.shell('(ulimit -f 2; event-store --session t --redact sesame <"$1") | resp grep -v TEXT | resp json', [store.path('input')])
  t.match(full.stderr, /^event-store: cannot write [^\n]*too large[^\n]*\n$/i)
  t.equal(linesOf(full.stdout.toString()).length, 2)
  t.same(
    (await store.records('t')).map(({ text }) => text),
    ['a'],
  )
})

t.test('recording takes memory that does not grow, and a field of 10 MB is in it about once', async (t) => {
  const store = new Store(t)
  writeFileSync(store.path('many'), frames(...Array.from({ length: 60_000 }, (_, index) => ['TEXT', `a few words of an answer, no more: ${index}`])))
  writeFileSync(store.path('long'), frames(['TOOL_RESULT', 'c1', 'Bash', 'line "of" output\n'.repeat(600_000)]))
  const peak = store.path('peak.cjs')
  writeFileSync(peak, `process.on('exit', () => require('fs').writeSync(2, process.resourceUsage().maxRSS + '\\n'))`)
  for (const [input, args, most] of [
    ['many', '--redact sesame', 100_000],
    ['many', '--stream-json=3 3>&1', 100_000],
    ['long', '', 95_000],
  ] as const) {
    const { status, stderr } = await store.shell(`event-store ${args} <"$1" >/dev/null`, [store.path(input)], { env: { NODE_OPTIONS: `--require ${peak}` } })
    t.equal(status, 0, stderr)
    t.ok(Number(stderr) > 20_000 && Number(stderr) < most, `${input} ${args}: ${stderr.trim()} kB`)
  }
})
