import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { linesOf, Store, textLine } from './support/store.js'

const DAY = 24 * 60 * 60 * 1000

function prompt(seq: number, text: string, time?: string): string {
  return textLine(seq, text, time).replace('"type":"text"', '"type":"user_message"')
}

function usage(seq: number, input: number): string {
  return `{"v":1,"seq":${seq},"ts":"2026-12-01T09:30:00.000Z","type":"usage","input_tokens":${input},"output_tokens":1,"cache_read_tokens":0,"cache_creation_tokens":0}\n`
}

/** A log that is worth remembering: a turn, then much text. */
const LONG = prompt(1, 'what was asked first') + usage(2, 10) + textLine(3, 'x'.repeat(1000)).repeat(200)

async function listed(store: Store, ...options: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await store.read(['list', '--json', '--exact', ...options])
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Where a listing remembers what it has counted. */
function cacheOf(store: Store): string {
  const directory = store.path('cache', 'agentpipe', 'counts')
  return join(directory, readdirSync(directory)[0] as string)
}

t.test('what was counted before is counted on from, and is not believed of another log', async (t) => {
  const store = new Store(t)
  const log = await store.write('s', LONG)
  const figures = async () => (await listed(store)).map(({ turns, tokens, first_prompt: text }) => [turns, (tokens as { input: number }).input, text])[0]
  t.same(await figures(), [1, 10, 'what was asked first'])
  const cache = cacheOf(store)
  t.equal(statSync(cache).mode & 0o777, 0o600)
  t.notMatch(readFileSync(cache, 'utf8'), 'asked', 'nothing of what was said stands there')

  appendFileSync(log, prompt(4, 'more') + usage(5, 100))
  t.same(await figures(), [2, 110, 'what was asked first'])
  const marked = JSON.parse(readFileSync(cache, 'utf8')).s
  writeFileSync(cache, JSON.stringify({ s: { ...marked, turns: 77 } }))
  t.same(await figures(), [77, 110, 'what was asked first'], 'it is what the listing goes by')

  // Repaired, edited, restored: another file of the name, or other bytes in front of where counting had come to.
  copyFileSync(log, `${log}.new`)
  renameSync(`${log}.new`, log)
  t.same(await figures(), [2, 110, 'what was asked first'], 'another file')
  writeFileSync(log, LONG.replaceAll('xx', 'yy') + usage(4, 5) + textLine(5, 'longer than before').repeat(100))
  t.same(await figures(), [1, 15, 'what was asked first'], 'other bytes')
  writeFileSync(log, prompt(1, 'short'))
  t.same(await figures(), [1, 0, 'short'], 'a shorter file')

  writeFileSync(log, LONG)
  for (const damage of ['', 'null', '[]', '{"s":7}', '{"s":{"bytes":-1}}', `{"s":{"bytes":9e9,"turns":1,"mark":"","tokens":{}}}`, '\0'.repeat(100)]) {
    writeFileSync(cache, damage)
    t.same(await figures(), [1, 10, 'what was asked first'], damage)
  }
  rmSync(store.path('cache'), { recursive: true })
  writeFileSync(store.path('cache'), '')
  t.same(await figures(), [1, 10, 'what was asked first'], 'nothing can be remembered')
})

t.test('case 41: a listing reads both ends of a long log, whatever stands in between or is long itself', async (t) => {
  const store = new Store(t)
  const long = 'é'.repeat(6_000_000)
  await store.write('s', prompt(1, `${'word '.repeat(2000)}${long}`) + textLine(2, long, '2026-12-01T10:00:00.000Z'))
  const [session] = await listed(store)
  t.match(session, { last_event: '2026-12-01T10:00:00.000Z', turns: 1, first_prompt: /^word word/ })
  t.equal(String(session?.first_prompt).length, 1000)
  await store.write('s', prompt(1, '"\\\n'.repeat(100_000)))
  t.equal((await listed(store))[0]?.first_prompt, '"\\\n'.repeat(334).slice(0, 1000))
})

t.test('case 40: the latest is the one with the last event, whatever the files say', async (t) => {
  const store = new Store(t)
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const oldest = await store.write('oldest', textLine(1, 'x', at(-3 * DAY)))
  await store.write('middle', textLine(1, 'x', at(-2 * DAY)))
  await store.write('newest', `${textLine(1, 'x', at(-DAY))}{"v":1,"seq":2,"ts":"2026-`)
  await store.write('future', textLine(1, 'x', at(300 * DAY)))
  await store.write('empty', '')
  await store.write('broken', '\0\0\0\0')
  const now = new Date(Date.now() + 1000)
  utimesSync(oldest, now, now)
  const before = statSync(oldest).mtimeMs
  t.same((await listed(store)).map(({ id }) => id).slice(0, 4), ['newest', 'middle', 'oldest', 'future'])
  t.equal(statSync(oldest).mtimeMs, before)
  t.match((await store.read(['path', 'latest'])).stdout.toString(), /newest/)
  t.match(await store.run(['--continue'], { input: '*2\r\n$4\r\nSTOP\r\n$1\r\nx\r\n' }), { status: 0 })
  t.equal((await store.records('newest')).length, 2, 'the torn line is set aside')
})

t.test('a clock that jumps back while a session is recorded: the order stays, the pace is not lost, and what comes last is the last event', async (t) => {
  const store = new Store(t)
  const shim = store.path('clock.cjs')
  // Each time that somebody asks, it is an hour earlier.
  writeFileSync(
    shim,
    'const Real = Date; let late = 0; globalThis.Date = class extends Real { constructor(...a) { a.length ? super(...a) : super(Real.now() - late++ * 3.6e6) } }',
  )
  const child = store.start(['--session', 's'], store.path('work'), { NODE_OPTIONS: `--require ${shim}` })
  for (const text of ['one', 'two', 'three']) {
    child.stdin.write(frames(['TEXT', text]))
    await new Promise((resolve) => child.stdout.once('data', resolve))
  }
  child.stdin.end()
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 0)
  const records = await store.records('s')
  t.same(
    records.map(({ seq, text }) => [seq, text]),
    [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ],
  )
  const times = records.map(({ ts }) => Date.parse(ts as string))
  t.ok((times[0] as number) > (times[1] as number) && (times[1] as number) > (times[2] as number), 'as the clock had it')
  t.same(
    fieldsOf((await store.read(['replay', 's', '--speed', '1'])).stdout).map(([, text]) => text),
    ['one', 'two', 'three'],
  )
  t.match(await listed(store), [{ last_event: records[2]?.ts }])
  t.match(await store.run(['--session', 's'], { input: frames(['TEXT', 'four']) }), { status: 0, stderr: '' })
  t.equal((await store.records('s')).at(-1)?.seq, 4)
})

t.test('a directory that can only be read', async (t) => {
  const store = new Store(t)
  const log = await store.write('s', LONG)
  // Root may write everywhere, so it lets somebody else try.
  const root = process.getuid?.() === 0
  const start = root ? 'setpriv --reuid=65534 --regid=65534 --clear-groups event-store' : 'event-store'
  if (root) execFileSync('chown', ['-R', '65534:65534', store.directory])
  if ((await store.shell(`${start} list --json --dir /nonexistent`)).status !== 0) return t.pass('skipped: no other user may run it')
  chmodSync(dirname(log), 0o500)
  chmodSync(log, 0o400)
  const before = statSync(log)
  t.match(await store.shell(`${start} list && ${start} replay s --last 1 >/dev/null && ${start} verify`), {
    status: 0,
    stderr: '',
    stdout: /what was asked first[\s\S]*s: 202 events/,
  })
  const refused = await store.shell(`${start} --session s`, [], { input: '*2\r\n$4\r\nSTOP\r\n$1\r\nx\r\n' })
  t.match(refused, { status: 74, stderr: /^event-store: cannot write [^\n]*: permission denied\n$/ })
  t.match(await store.shell(`${start} verify s --repair; ${start} rm s`), { stderr: /permission denied/ })
  t.same(readdirSync(dirname(log)), ['events.jsonl'])
  t.same([statSync(log).mtimeMs, statSync(log).size], [before.mtimeMs, before.size])
  chmodSync(dirname(log), 0o700)
})

t.test('there is time to count short logs, whatever long ones are beside them', async (t) => {
  const store = new Store(t)
  await store.write('short', prompt(1, 'x'))
  await store.write('long', LONG.replaceAll('2026-12-01', '2026-12-02'))
  const { now } = Date
  let time = now()
  // Each look at the clock takes long.
  Date.now = () => (time += 200)
  try {
    const rows = linesOf((await store.read(['list'])).stdout.toString())
    t.match(rows, [/^long .* 0\+ turns /, /^short .* 1 turn /])
  } finally {
    Date.now = now
  }
})

t.test('each listing comes further, however much there is to look at', async (t) => {
  const store = new Store(t)
  for (const id of ['a', 'b', 'c']) await store.write(id, LONG)
  const { now } = Date
  let time = now()
  Date.now = () => (time += 80)
  const counted: number[] = []
  try {
    for (let times = 0; times < 10; times++) counted.push((await store.read(['list'])).stdout.toString().split(' 1 turn ').length - 1)
  } finally {
    Date.now = now
  }
  t.equal(counted.at(-1), 3, counted.join())
  const remembered = () => JSON.parse(readFileSync(cacheOf(store), 'utf8')).a
  const before = remembered()
  const log = await store.log('a')
  copyFileSync(log, `${log}.new`)
  renameSync(`${log}.new`, log)
  await listed(store)
  t.equal(remembered().bytes, before.bytes)
  t.not(remembered().mark, before.mark, 'another file of the same size is remembered too')
})

t.test('a state directory without a name is none', async (t) => {
  const store = new Store(t)
  t.match(await store.read(['list', '--dir', '']), { status: 64, stderr: /--dir: expected a directory/ })
})

t.test('a new session beside a thousand others', async (t) => {
  const store = new Store(t)
  const project = dirname(dirname(await store.write('first', textLine(1, 'x'))))
  for (let index = 0; index < 1000; index++) {
    mkdirSync(join(project, `s${index}`))
    writeFileSync(join(project, `s${index}`, 'events.jsonl'), prompt(1, `prompt ${index}`))
  }
  t.equal((await listed(store)).length, 1001)
  t.match(await store.run(['--session', 'another'], { input: '*2\r\n$4\r\nSTOP\r\n$1\r\nx\r\n' }), { status: 0, stderr: '' })
})
