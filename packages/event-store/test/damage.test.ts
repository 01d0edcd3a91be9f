import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { recordsIn } from '../src/damaged-line.js'
import { readLog } from '../src/log-reader.js'
import { repair } from '../src/repair.js'
import { Store, textLine } from './support/store.js'

const WHOLE = Array.from({ length: 100 }, (_, index) => textLine(index + 1, `event ${index + 1}`))
const ALL = WHOLE.map((_, index) => `event ${index + 1}`)
const WITHOUT_50 = ALL.filter((text) => text !== 'event 50')

function with50(line: string | Buffer): Buffer {
  return Buffer.concat([
    ...WHOLE.slice(0, 49).map((text) => Buffer.from(text)),
    Buffer.from(line as string),
    ...WHOLE.slice(50).map((text) => Buffer.from(text)),
  ])
}

const DAMAGES: readonly (readonly [name: string, log: string | Buffer, left: readonly string[], says: RegExp | undefined])[] = [
  ['NUL bytes', with50(Buffer.from(`${'\0'.repeat(300)}\n`)), WITHOUT_50, /line 50: not JSON \(NUL bytes\): left out/],
  ['NUL bytes with a record behind them', with50(`${'\0'.repeat(300)}${WHOLE[49]}`), ALL, /line 50: 1 whole records? on one line: used; the rest is not JSON/],
  ['half a record', with50(`${WHOLE[49]?.slice(0, 70)}\n`), WITHOUT_50, /line 50: not JSON: left out/],
  ['half a record with a whole one behind it', with50(`${WHOLE[49]?.slice(0, 72)}${WHOLE[49]}`), ALL, /line 50/],
  ['two records glued', WHOLE.join('').replace(`${WHOLE[49]}`, WHOLE[49]?.trimEnd() as string), ALL, /line 50: 2 whole records on one line: used/],
  ['invalid UTF-8', with50(Buffer.from(WHOLE[49]?.replace('event', '\xff\xfe') as string, 'latin1')), WITHOUT_50, /line 50: not UTF-8/],
  ['a number', with50('42\n'), WITHOUT_50, /line 50: not an object/],
  ['null', with50('null\n'), WITHOUT_50, /line 50: not an object/],
  ['another version', with50('{"v":2,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"text","text":"x"}\n'), WITHOUT_50, /line 50: of another version/],
  [
    'a type that nobody knows',
    with50('{"v":1,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"hologram","x":1}\n'),
    WITHOUT_50,
    /line 50: of an unknown type, "hologram"/,
  ],
  [
    'a command',
    with50('{"v":1,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"permission","tool_use_id":"c","decision":"allow"}\n'),
    WITHOUT_50,
    /line 50: of an unknown type/,
  ],
  [
    'no type at all',
    with50('{"v":1,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"no type\\u001b[31m"}\n'),
    WITHOUT_50,
    /line 50: of an unknown type, "no type\\u001b\[31m"/,
  ],
  [
    'a member missing',
    with50('{"v":1,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"tool_call","name":"Bash"}\n'),
    WITHOUT_50,
    /line 50: not a whole TOOL_CALL/,
  ],
  [
    'extra of the wrong kind',
    with50('{"v":1,"seq":50,"ts":"2026-12-01T09:30:00.000Z","type":"text","text":"x","extra":[1]}\n'),
    WITHOUT_50,
    /line 50: not a whole TEXT/,
  ],
  ['CRLF throughout', WHOLE.join('').replaceAll('\n', '\r\n'), ALL, undefined],
  ['blank lines', WHOLE.join('\n'), ALL, undefined],
  [
    'a raw newline inside a record',
    with50(WHOLE[49]?.replace(' ', '\n') as string),
    WITHOUT_50,
    /line 50: not JSON: left out\n.*line 51: not JSON: left out\n$/,
  ],
  ['a torn last line', `${WHOLE.join('')}${WHOLE[0]?.slice(0, 50)}`, ALL, /line 101: torn, not JSON: left out/],
  ['a last line without LF', WHOLE.join('').trimEnd(), ALL, undefined],
]

t.test('case 38: the rest is used, and one line says what is wrong and where', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', '')
  for (const [name, log, left, says] of DAMAGES) {
    writeFileSync(path, log)
    const ended = await store.read(['replay', 's'])
    t.equal(ended.status, 0, name)
    t.same(
      fieldsOf(ended.stdout).map(([, text]) => text),
      left,
      name,
    )
    if (says === undefined) t.equal(ended.stderr, '', name)
    else t.match(ended.stderr, says, name)
    t.match(ended.stderr, /^(event-store: [\x20-\x7e]*\n)*$/, `${name}: nothing that a terminal would obey`)
    const history = await store.read(['history', 's'])
    t.equal(fieldsOf(history.stdout).length, left.length, `${name}: history`)
  }
})

t.test('repaired: what was used is all that is left, and each damaged line is beside it as it was', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', '')
  for (const [name, log, left, says] of DAMAGES) {
    writeFileSync(path, log)
    const aside = readFileSync(repair(path))
    const problems: string[] = []
    t.same(
      Array.from(
        readLog(path, (_, problem) => problems.push(problem)),
        ({ frame }) => frame.text(1),
      ),
      left,
      name,
    )
    const unknown = /another version|unknown type, "hologram"|a command/.test(`${says}${name}`) || name === 'no type at all'
    t.equal(problems.length, unknown ? 1 : 0, `${name}: what is whole, though unknown, stays`)
    t.equal(aside.length === 0, says === undefined || unknown, name)
    for (const line of aside.toString('latin1').split('\n')) t.ok(Buffer.from(log).toString('latin1').includes(line), name)
  }
  const names = readdirSync(dirname(path))
  t.same(
    names.filter((name) => name.includes('.repaired-')),
    [],
  )
  for (const name of names) t.equal(statSync(`${dirname(path)}/${name}`).mode & 0o777, 0o600)
})

t.test('verify: what is wrong and where, status 65; with --repair it is set aside, and the next writer goes on', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', with50(`${'\0'.repeat(300)}\n`))
  await store.write('whole', textLine(1, 'x'))
  const found = await store.read(['verify'])
  t.match(found, { status: 65, stderr: '' })
  t.equal(found.stdout.toString(), `${path}: line 50: not JSON (NUL bytes): left out\ns: 99 events, 1 damaged line, 1 number missing\nwhole: 1 event\n`)
  t.match(await store.read(['verify', 'whole']), { status: 0, stdout: Buffer.from('whole: 1 event\n') })
  const repaired = await store.read(['verify', 's', '--repair'])
  t.match(repaired, { status: 0, stderr: '' })
  t.match(repaired.stdout.toString(), /; repaired: what was damaged is in .*events\.jsonl\.damaged-\S+\n$/)
  t.match(await store.read(['verify', '--all']), { status: 0, stdout: Buffer.from('s: 99 events, 1 number missing\nwhole: 1 event\n') })
  t.match(await store.run(['--session', 's'], { input: frames(['TEXT', 'more']) }), { status: 0, stderr: '' })
  t.equal((await store.records('s')).at(-1)?.seq, 101)
  t.match(await store.read(['verify', 'nothing']), { status: 66 })
})

t.test('what a live writer has not ended is no damage, and its log is not rewritten', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', textLine(1, 'one'))
  const child = store.start(['--session', 's'])
  child.stdin.write(frames(['TEXT', 'two']))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const whole = readFileSync(path)
  writeFileSync(path, Buffer.concat([whole, Buffer.from('{"v":1,"seq":3,"ts"')]))
  t.match(await store.read(['verify', 's']), { status: 0, stdout: Buffer.from('s: 2 events\n'), stderr: '' })
  t.match(await store.read(['replay', 's']), { status: 0, stderr: '' })
  writeFileSync(path, Buffer.concat([Buffer.from('junk\n'), whole]))
  t.match(await store.read(['verify', 's', '--repair']), { status: 75, stderr: new RegExp(`being written by process ${child.pid}`) })
  child.stdin.end()
  await new Promise((resolve) => child.on('close', resolve))
  t.match(await store.read(['verify', 's', '--repair']), { status: 0 })
})

t.test('much damage does not flood the terminal', async (t) => {
  const store = new Store(t)
  await store.write('s', `${'junk\n'.repeat(5000)}${textLine(1, 'x')}`)
  const ended = await store.read(['replay', 's'])
  t.same(fieldsOf(ended.stdout), [['TEXT', 'x']])
  t.equal(ended.stderr.split('\n').length, 12)
  t.match(ended.stderr, /4990 more lines are damaged\n$/)
})

t.test("a tool's input that looks like a record never becomes one", async (t) => {
  const forged = textLine(9, 'forged').trimEnd()
  const call = (input: string) => `{"v":1,"seq":1,"ts":"2026-12-01T09:30:00.000Z","type":"tool_call","name":"B","tool_use_id":"c","input":${input}}`
  for (const line of [call(`{"x":${forged}}`), call(`{"x":[${forged},${forged}]}`), call(JSON.stringify({ x: `"}${forged}` }))]) {
    for (let cut = 1; cut < line.length; cut++) {
      const { records } = recordsIn(Buffer.from(line.slice(0, cut)))
      t.same(records, [], line.slice(0, cut))
    }
    t.equal(recordsIn(Buffer.from(line)).records[0]?.type, 'TOOL_CALL')
  }
})
