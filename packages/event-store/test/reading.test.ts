import { writeFileSync } from 'node:fs'
import { buildToolCall } from '@agentpipe/message'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { Store, textLine } from './support/store.js'

t.test('ids: exact before shortened, shortened if it is clear, latest', async (t) => {
  const store = new Store(t)
  for (const id of ['abc', 'abcd', 'abx', 'zzz']) await store.record(id, frames(['TEXT', id]))
  await store.record('far', frames(['TEXT', 'far']), '/')
  const textOf = async (id: string) => fieldsOf((await store.read(['replay', id])).stdout)[0]?.[1]
  t.equal(await textOf('abc'), 'abc')
  t.equal(await textOf('abcd'), 'abcd')
  t.equal(await textOf('abx'), 'abx')
  t.equal(await textOf('z'), 'zzz')
  t.equal(await textOf('latest'), 'zzz')
  t.equal(await textOf('f'), 'far', 'one of another directory, if none of this one fits')
  t.match(await store.read(['replay', 'ab']), { status: 64, stderr: /^event-store: "ab" may be abc \(.*\) or abcd \(.*\) or abx \(.*\)\n$/ })
  for (let number = 10; number < 33; number++) await store.write(`many${number}`, textLine(1, 'x'))
  const { stderr } = await store.read(['replay', 'many'])
  t.match(stderr, /^event-store: "many" may be many10 \(.*\), many11 \(.*\), many12 \(.*\), many13 \([^,]*\) and 19 more\n$/)
  for (const id of ['q', '', '..', '../abc', 'abc/', '*']) {
    t.match(await store.read(['path', id]), { status: 66, stderr: /^event-store: there is no session .*: see event-store list[^\n]*\n$/ }, JSON.stringify(id))
  }
  t.match(await store.read(['replay']), { status: 64, stderr: /expected one session ID/ })
  t.match(await store.read(['replay', 'abc', 'abx']), { status: 64 })
  t.match(await store.read(['replay', 'latest'], { env: { XDG_STATE_HOME: '/nowhere' } }), { status: 66, stderr: /no session of this directory yet/ })
})

t.test('history: what the conversation is rebuilt from, each frame whole', async (t) => {
  const store = new Store(t)
  const binary = Buffer.from([0xff, 0, 0x0d, 0x0a])
  const kept = [
    ['USER_MESSAGE', 'hi', 'image', 'aGk=', 'image_type', 'image/png'],
    ['THINKING', 'hm', 'signature', 'sig'],
    ['TEXT', 'half'],
    ['RETRY', 'attempt', '1'],
    ['TEXT', 'whole\r\n$3'],
    ['TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}', 'command', 'ls'],
    ['USAGE', '1', '2', '3', '4'],
    ['TOOL_RESULT', 'c1', 'Bash', binary, 'unknown', binary],
    ['SUB_AGENT_RESULT', 's', 'ok', 'text'],
    ['ERROR', 'no object', 'code', 'bad_call'],
    ['CONTEXT_UPDATE', 'compact', 'auto', 'summary', 'x'],
    ['STOP', 'end_turn'],
  ]
  const left = [
    ['HELLO', '1', 's'],
    ['TOOL_OUTPUT', 'c1', 'live'],
    ['PERMISSION_REQUEST', 'c1', 'Bash', 'rule'],
    ['ERROR', 'for people'],
  ]
  await store.record('s', frames(...left.slice(0, 1), ...kept.slice(0, 6), ...left.slice(1), ...kept.slice(6)))
  const ended = await store.read(['history', 's'])
  t.match(ended, { status: 0, stderr: '' })
  t.ok(ended.stdout.equals(frames(...kept.map((fields) => ['HISTORY', ...fields]))))
})

t.test('history --or-none: only a session of exactly that id, here', async (t) => {
  const store = new Store(t)
  await store.record('fix-2', frames(['TEXT', 'x']))
  await store.record('away', frames(['TEXT', 'x']), '/')
  t.equal(fieldsOf((await store.read(['history', '--or-none', 'fix-2'])).stdout).length, 1)
  for (const id of ['fix', 'away', 'nothing', 'latest'])
    t.match(await store.read(['history', '--or-none', id]), { status: 0, stdout: Buffer.alloc(0), stderr: '' }, id)
})

t.test('history of a call with as many fields as a frame may have', async (t) => {
  const store = new Store(t)
  const input = JSON.stringify(Object.fromEntries(Array.from({ length: 509 }, (_, index) => [`k${index}`, index])))
  const call = buildToolCall('Many', 'c1', input, 'sealed')
  t.equal(fieldsOf(call)[0]?.length, 1024)
  await store.record('s', call)
  t.ok((await store.read(['replay', 's'])).stdout.equals(call))
  t.same(fieldsOf((await store.read(['history', 's'])).stdout), [['HISTORY', 'TOOL_CALL', 'Many', 'c1', input, '@opaque', 'sealed']])
})

t.test('list: id, last event, turns and first prompt, on one line each, safe on a terminal', async (t) => {
  const store = new Store(t)
  const prompt = `fix\n\x1b[31mthe\x1b]0;title\x07 test\u202e ${'漢'.repeat(100)}`
  await store.record('one', frames(['USER_MESSAGE', prompt], ['STOP', 'end_turn'], ['USER_MESSAGE', 'second'], ['STOP', 'end_turn']))
  await store.write('two', textLine(1, 'x', '2026-01-02T03:04:05.678Z'))
  await store.record('far', frames(['TEXT', 'far']), '/')
  const { stdout, stderr, status } = await store.read(['list'])
  t.same([status, stderr], [0, ''])
  const lines = stdout.toString().split('\n')
  t.equal(lines.length, 3)
  t.match(lines[0], /^one {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}2 turns {2}0 tokens {2}fix \\x1b\[31mthe\\x1b\]0;title\\x07 test\\u202e 漢+…$/)
  t.equal(lines[1], 'two  2026-01-02T03:04:05Z  0 turns  0 tokens  -')
  const json = (await store.read(['list', '--json'])).stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(json, [
    { id: 'one', turns: 2, first_prompt: prompt, path: /one\/events\.jsonl$/ },
    { id: 'two', turns: 0, first_prompt: null, last_event: '2026-01-02T03:04:05.678Z' },
  ])
  const all = (await store.read(['list', '--all'])).stdout.toString().trim().split('\n')
  t.equal(all.length, 3)
  for (const [columns, expected] of [
    ['68', /^one {2}\S{20} {2}2 turns {2}0 tokens {2}fix.*…\ntwo {2}\S{20} {2}0 turns {2}0 tokens {2}-\n$/],
    ['40', /^one {2}\S{20} {2}2 turns\n {2}0 tokens\n {2}fix.*…\ntwo {2}\S{20} {2}0 turns\n {2}0 tokens {2}-\n$/],
    ['12', /^one\n {2}2026-.*…\n/],
  ] as const) {
    const narrow = (await store.read(['list'], { env: { COLUMNS: columns } })).stdout.toString()
    t.match(columns === '12' ? narrow.replace(/\d{4}-/, '2026-') : narrow, expected)
    for (const line of narrow.split('\n')) t.ok([...line].length <= Number(columns), line)
  }
  t.match(await store.read(['list'], { cwd: '/tmp' }), { status: 0, stdout: Buffer.alloc(0), stderr: '' })
  t.match(await store.read(['list', 'x']), { status: 64 })
})

t.test('case 41: a long log with one line of 12 MB is read in bounded memory', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', '')
  const texts = Array.from({ length: 60_000 }, (_, index) => `event ${index} ${'x'.repeat(500)}`)
  texts[30_000] = 'y'.repeat(12_000_000)
  writeFileSync(path, texts.map((text, index) => textLine(index + 1, text)).join(''))
  const bytes = texts.reduce((sum, text) => sum + frames(['TEXT', text]).length, 0)
  const measured = await store.shell('NODE_OPTIONS=--max-old-space-size=64 event-store replay s | wc -c; event-store list --exact; event-store path latest')
  t.equal(measured.stderr, '')
  t.match(measured.stdout.toString(), new RegExp(`^${bytes}\\ns {2}2026-12-01T09:30:00Z {2}0 turns {2}0 tokens {2}-\\n.*events.jsonl\\n$`))
  const peak = store.path('peak.cjs')
  writeFileSync(peak, `process.on('exit', () => require('fs').writeSync(2, process.resourceUsage().maxRSS + '\\n'))`)
  const { stderr: peaks } = await store.shell('for verb in "export s --format jsonl" "follow s --once" list; do event-store $verb >/dev/null; done', [], {
    env: { NODE_OPTIONS: `--require ${peak}` },
  })
  // A line is there as bytes, and as the frame that is made of it.
  for (const kilobytes of peaks.trim().split('\n')) t.ok(Number(kilobytes) > 20_000 && Number(kilobytes) < 120_000, `${kilobytes} kB`)
  const added = await store.shell('NODE_OPTIONS=--max-old-space-size=64 event-store --session s', [], { input: frames(['STOP', 'end_turn']) })
  t.match(added, { status: 0, stderr: '' })
  t.match((await store.records('s')).at(-1), { seq: 60_001, type: 'stop' })
})
