import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { Pace } from '../src/pace.js'
import { linesOf, Store } from './support/store.js'

/** The line of a log for an object. */
const line = (seq: number, members: object, time = '2026-12-01T09:30:00.000Z') => `${JSON.stringify({ v: 1, seq, ts: time, ...members })}\n`

/** The members of turns as agent-loop makes them. */
const turn = (number: number) => [
  { type: 'user_message', text: `prompt ${number}` },
  { type: 'text', text: `answer ${number}` },
  { type: 'usage', input_tokens: 10, output_tokens: 2, cache_read_tokens: 0, cache_creation_tokens: 0, model: 'claude-sonnet-4' },
  { type: 'stop', reason: 'end_turn' },
]
const log = (members: readonly object[]) => members.map((each, index) => line(index + 1, each)).join('')
const texts = (bytes: Buffer) => fieldsOf(bytes).map(([type, text]) => `${type} ${text}`)

t.test('replay --last: whole turns, found from the end; --from: by number', async (t) => {
  const store = new Store(t)
  const hello = { type: 'hello', version: 1, session_id: 's' }
  await store.write('s', log([hello, ...turn(1), hello, ...turn(2), { type: 'user_message', text: 'prompt 3' }, { type: 'text', text: 'half an answer' }]))
  const replay = async (...args: string[]) => texts((await store.read(['replay', 's', ...args])).stdout)
  t.same(await replay('--last', '0'), [])
  t.same(await replay('--last', '1'), ['USER_MESSAGE prompt 3', 'TEXT half an answer'])
  t.same((await replay('--last', '2'))[0], 'USER_MESSAGE prompt 2')
  t.equal((await replay('--last', '3')).length, 11)
  t.equal((await replay('--last', '4')).length, 12, 'all where there are no more')
  t.same((await replay('--from', '11'))[0], 'USER_MESSAGE prompt 3')
  t.same(await replay('--from', '99'), [])
  t.match(await store.read(['replay', 's', '--from', '2', '--last', '1']), { status: 64, stderr: /exclude each other/ })
  await store.write(
    's',
    log(
      [1, 2, 3].flatMap((number) => [
        { type: 'text', text: `answer ${number}` },
        { type: 'stop', reason: 'end_turn' },
      ]),
    ),
  )
  t.same(await replay('--last', '2'), ['TEXT answer 2', 'STOP end_turn', 'TEXT answer 3', 'STOP end_turn'], 'without USER_MESSAGE, by STOP')
  await store.write('s', `${log(turn(1))}junk\n${log(turn(2)).replaceAll('"v":1,', '').replaceAll('}\n', ',"v":1}\n')}torn`)
  t.same((await replay('--last', '1'))[0], 'USER_MESSAGE prompt 2', 'of lines that another program wrote, among damage')
})

t.test('replay --speed keeps the pace, however long the breaks were, and whatever the clock did', async (t) => {
  const pace = new Pace('2')
  const at = (milliseconds: number) => new Date(Date.UTC(2026) + milliseconds).toISOString()
  t.same(
    [at(0), at(100), at(100), at(50), at(9_000_000)].map((time) => pace.before(time)),
    [0, 50, 0, 0, 1000],
  )
  t.equal(new Pace('max').before(at(1)), 0)
  const store = new Store(t)
  await store.write('s', line(1, { type: 'text', text: 'a' }, at(0)) + line(2, { type: 'text', text: 'b' }, at(400)))
  const started = Date.now()
  t.same(texts((await store.read(['replay', 's', '--speed', '1'])).stdout), ['TEXT a', 'TEXT b'])
  t.ok(Date.now() - started >= 400)
  for (const speed of ['0', '-1', 'fast', ''])
    t.match(await store.read(['replay', 's', `--speed=${speed}`]), { status: 64, stderr: /--speed: expected a number/ })
})

t.test('history of a long log: what the last summary stands for is not read', async (t) => {
  const store = new Store(t)
  const filler = Array.from({ length: 9 }, () => ({ type: 'tool_output', tool_use_id: 'c', chunk: 'x'.repeat(2_000_000) }))
  const call = (id: string) => ({ type: 'tool_call', name: 'B', tool_use_id: id, input: {} })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, name: 'B', content: id })
  const summary = (kept: object) => ({ type: 'context_update', kind: 'compact', trigger: 'auto', summary: 'so far', ...kept })
  const history = async (members: readonly object[]) => {
    await store.write('s', log(members))
    const { status, stdout, stderr } = await store.read(['history', 's'])
    t.same([status, stderr], [0, ''])
    return fieldsOf(stdout).map(([, type, text]) => `${type} ${text}`)
  }
  const before = [...turn(1), ...filler, call('old'), ...turn(2), ...turn(3)]
  t.equal((await history(before))[0], 'USER_MESSAGE prompt 1', 'no summary: all of it')
  const two = await history([...before, summary({ kept: 2 }), result('old'), ...turn(4)])
  t.equal(two[0], 'USER_MESSAGE prompt 2')
  t.notOk(two.includes('TOOL_RESULT old'), 'a result of a call that is summarised')
  t.equal((await history([...before, summary({ kept: 0 }), ...turn(4)]))[0], 'CONTEXT_UPDATE compact')
  t.equal((await history([...before, { type: 'context_update', kind: 'clear', trigger: 'manual' }, ...turn(4)]))[1], 'USER_MESSAGE prompt 4')
  const responses = Array.from({ length: 20 }, (_, index) => [call(`c${index}`), turn(1)[2] as object, result(`c${index}`)]).flat()
  const kept = await history([...before, ...responses, summary({ kept: 0, kept_responses: 3 })])
  t.ok(kept.includes('TOOL_RESULT c17') && !kept.includes('TOOL_RESULT c2'))
  t.equal((await history([...turn(1), summary({ kept: 0 }), ...turn(2)]))[0], 'USER_MESSAGE prompt 1', 'a short one is read whole')
})

t.test('follow: what is there, and what comes, until nobody writes any more', async (t) => {
  const store = new Store(t)
  const writer = store.start(['--session', 's'])
  const said = (child: ReturnType<typeof store.start>) => new Promise((resolve) => child.stdout.once('data', resolve))
  writer.stdin.write(frames(['USER_MESSAGE', 'one'], ['STOP', 'end_turn'], ['USER_MESSAGE', 'two']))
  await said(writer)
  const follower = store.start(['follow', 's', '--once', '--last', '1'])
  const chunks: Buffer[] = []
  follower.stdout.on('data', (chunk) => chunks.push(chunk))
  const closed = new Promise((resolve) => follower.on('close', resolve))
  await said(follower)
  writer.stdin.write(frames(['TEXT', 'live']))
  await said(follower)
  t.same(texts(Buffer.concat(chunks)), ['USER_MESSAGE two', 'TEXT live'])
  const path = await store.log('s')
  writeFileSync(path, readFileSync(path))
  writer.stdin.end(frames(['TEXT', 'x'.repeat(300_000)], ['STOP', 'end_turn']))
  t.equal(await closed, 0)
  t.equal(texts(Buffer.concat(chunks)).length, 4)
  t.equal(texts((await store.run(['follow', 's', '--once'])).stdout).length, 6)
  const gone = store.start(['follow', 's'])
  await said(gone)
  t.equal((await store.read(['rm', 's'])).status, 0)
  t.equal(await new Promise((resolve) => gone.on('close', resolve)), 66)
})

t.test('fork: the events up to one, byte for byte, under a new id', async (t) => {
  const store = new Store(t)
  const whole = log([...turn(1), ...turn(2)])
  await store.write('s', whole)
  const forked = await store.read(['fork', 's', '--at', '4'])
  const id = forked.stdout.toString().trim()
  t.match(id, /^\d{8}-\d{6}-[0-9a-f]{6}$/)
  t.equal(readFileSync(await store.log(id), 'utf8'), linesOf(whole).slice(0, 4).join('\n').concat('\n'))
  t.match(await store.run(['--session', id], { input: frames(['TEXT', 'another way']) }), { status: 0, stderr: '' })
  t.equal((await store.records(id)).at(-1)?.seq, 5)
  t.equal(readFileSync(await store.log('s'), 'utf8'), whole)
  t.match(await store.read(['fork', 's', '--session', 'named']), { status: 0, stdout: Buffer.from('named\n') })
  t.equal(readFileSync(await store.log('named'), 'utf8'), whole)
  t.match(await store.read(['fork', 's', '--session', 'named']), { status: 73, stderr: /there is a session named already/ })
  t.match(await store.read(['fork', 's', '--session', '../x']), { status: 64 })
})

t.test('rm and prune: by the time of the last event, never one that is written', async (t) => {
  const store = new Store(t)
  const days = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString()
  for (const [id, ago] of [
    ['old', 100],
    ['older', 200],
    ['young', 1],
    ['ahead', -100],
  ] as const)
    await store.write(id, line(1, { type: 'text', text: id }, days(ago)))
  const writer = store.start(['--session', 'live'])
  writer.stdin.write(frames(['TEXT', 'x']))
  await new Promise((resolve) => writer.stdout.once('data', resolve))
  writeFileSync(await store.log('live'), line(1, { type: 'text', text: 'x' }, days(300)))
  t.match(await store.read(['prune']), { status: 64, stderr: /--older-than/ })
  t.match(await store.read(['prune', '--older-than', 'soon']), { status: 64 })
  const dry = await store.read(['prune', '--older-than', '90d', '-n'])
  t.match(dry.stdout.toString(), /^would remove live, .*\nwould remove old, last event \d{4}-\d\d-\d\d\nwould remove older, .*\n$/)
  t.same(store.sessions().length, 5)
  t.match(await store.read(['prune', '--older-than', '90d']), { status: 75, stderr: /session live is being written by process/ })
  t.same(store.sessions().sort(), ['ahead', 'live', 'young'])
  t.match(await store.read(['rm', 'young', 'nothing']), { status: 66 })
  t.equal(store.sessions().length, 3, 'none where one is not clear')
  t.match(await store.read(['rm', 'live']), { status: 75 })
  writer.stdin.end()
  await new Promise((resolve) => writer.on('close', resolve))
  t.match(await store.read(['rm', 'y', 'ahead', 'live']), { status: 0, stdout: Buffer.from('removed young\nremoved ahead\nremoved live\n') })
  t.notOk(existsSync(store.path('state', 'agentpipe', 'projects', 'x')))
  t.same(store.sessions(), [])
})

t.test('search: what was said in pieces too, over all sessions, one line each', async (t) => {
  const store = new Store(t)
  await store.write(
    's',
    log([
      { type: 'user_message', text: 'find\nthe needle\u001b[31m' },
      { type: 'text', text: 'no nee' },
      { type: 'text', text: 'dle here\nnext' },
    ]),
  )
  await store.record('far', frames(['TOOL_RESULT', 'c', 'Bash', `${'x'.repeat(500)}a needle${'y'.repeat(500)}`]), '/')
  const found = await store.read(['search', 'need+le'])
  t.match(found, { status: 0, stderr: '' })
  const rows = found.stdout.toString().split('\n')
  t.match(rows[0], /^far:1:tool_result: …x+a needley+…$/)
  t.same(rows.slice(1), ['s:1:user_message: the needle\\x1b[31m', 's:2:text: no needle here', ''])
  t.match(await store.read(['search', 'NEEDLE']), { status: 1, stdout: Buffer.alloc(0) })
  t.match(await store.read(['search', '-i', 'NEEDLE', 's']), { status: 0 })
  t.match(await store.read(['search', '-F', 'need+le']), { status: 1 })
  t.match(await store.read(['search', '(']), { status: 64, stderr: /invalid regular expression/ })
  t.match(await store.read(['search']), { status: 64 })
  t.match(JSON.parse((await store.read(['search', '--json', 'no needle'])).stdout.toString()), { id: 's', seq: 2, type: 'text', line: 'no needle here' })
})

t.test('export: frames, the lines as they are, or a document that shows everything and does nothing', async (t) => {
  const store = new Store(t)
  const whole = log([
    { type: 'user_message', text: 'do it' },
    { type: 'text', text: '**bold** ' },
    { type: 'text', text: 'text' },
    { type: 'tool_call', name: 'Ba<b>sh', tool_use_id: 'c', input: { command: 'ls' } },
    { type: 'tool_result', tool_use_id: 'c', name: 'Bash', content: '````\n\u001b]0;x\u0007\ttab' },
    { type: 'stop', reason: 'max_turns' },
  ])
  await store.write('s', `${whole}torn`)
  t.equal((await store.read(['export', 's', '--format', 'jsonl'])).stdout.toString(), whole)
  t.ok((await store.read(['export', 's', '--format', 'resp'])).stdout.equals((await store.read(['replay', 's'])).stdout))
  const document = (await store.read(['export', 's'])).stdout.toString()
  t.match(document, /^# Session s\n\n## User · 2026-12-01 09:30:00\n\ndo it\n\n## Agent\n\n\*\*bold\*\* text\n/)
  t.match(document, '```json\n{\n  "command": "ls"\n}\n```')
  t.match(document, '`````\n````\n\\x1b]0;x\\x07\ttab\n`````')
  t.match(document, '**Ba&lt;b>sh**')
  t.match(document, '> Stopped: max\\_turns')
  t.match(await store.read(['export', 's', '--format', 'pdf']), { status: 64 })
})

t.test('stats: tokens and cost by model, time by tool', async (t) => {
  const store = new Store(t)
  const config = store.path('config.json')
  writeFileSync(config, '{"agent-loop": {"prices": {"mine": {"input": 1, "output": 100}}}}')
  const usage = (model: string) => ({ type: 'usage', input_tokens: 1_000_000, output_tokens: 10_000, cache_read_tokens: 5, cache_creation_tokens: 0, model })
  await store.write(
    's',
    log([
      ...turn(1),
      usage('mine'),
      usage('who?'),
      { type: 'tool_call', name: 'Bash', tool_use_id: 'c', input: {} },
      { type: 'tool_result', tool_use_id: 'c', name: 'Bash', content: '', status: 'error', duration_ms: 90_500 },
    ]),
  )
  const env = { AGENTPIPE_CONFIG: config }
  const figures = JSON.parse((await store.read(['stats', 's', '--json'], { env })).stdout.toString())
  t.match(figures, { sessions: 1, events: 8, turns: 1, tokens: { input: 2_000_010, output: 20_002, cache_read: 10, cache_creation: 0 } })
  t.match(figures.models, [
    { model: 'claude-sonnet-4', responses: 1 },
    { model: 'mine', cost_usd: 2.000005 },
    { model: 'who?', cost_usd: null },
  ])
  t.match(figures.tools, [{ tool: 'Bash', calls: 1, failed: 1, duration_ms: 90_500 }])
  const { stdout, stderr } = await store.read(['stats'], { env })
  t.equal(stderr, '')
  t.match(stdout.toString(), /^1 session, 1 turn, 8 events, 2M tokens, \$2\.00\n\nmodel +responses .*\n/)
  t.match(stdout.toString(), /\nBash +1 +1 +1 min 31 s +1 min 31 s +1 min 31 s\n$/)
  t.match(stdout.toString(), /without the cost of who\?: /)
  t.match(await store.read(['stats'], { cwd: '/' }), { status: 0 })
})
