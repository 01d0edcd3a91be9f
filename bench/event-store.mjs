// Events a second that are recorded and replayed, whole processes over files, beside SQLite (better-sqlite3 12, WAL, synchronous NORMAL, a row an
// event, committed before its frame goes on), a million so that starting Node is no part of it that counts; then a listing of 1,000 sessions beside
// wc -l of their logs, and replay --last 10 of a log of 1 GB beside tail -n, with the memory that each takes.
// better-sqlite3 is not needed to build or to test: `npm install --prefix bench` gets it.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encodeFrame } from '../packages/frame/build/src/index.js'
import { median, printTable } from './table.mjs'

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const LONG_BYTES = Number(process.env.BENCH_BYTES ?? 1e9)
const ROUNDS = 3
const SESSIONS = 1000
/** Of the long log. */
const LINES_A_TURN = 114
const here = fileURLToPath(new URL('.', import.meta.url))
const store = join(here, '../dist/bin/event-store')
const directory = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'event-store-bench-'))
const env = { ...process.env, XDG_STATE_HOME: join(directory, 'state'), XDG_CACHE_HOME: join(directory, 'cache'), AGENTPIPE_CONFIG: '/dev/null' }

try {
  const input = join(directory, 'input.resp')
  writeFileSync(input, Buffer.concat(Array.from({ length: EVENTS }, (_, index) => encodeFrame(['TEXT', `a few words of an answer, no more: event ${index}`]))))
  const rows = [['', 'events/s', 'MB']]
  const rates = {}
  const sqlite = join(here, 'sqlite-store.mjs')
  const hasSqlite = existsSync(join(here, 'node_modules/better-sqlite3'))
  const measured = {
    'event-store, appended': (round) => run([store, '--session', `s${round}`], input),
    'event-store, replayed': (round) => run([store, 'replay', `s${round}`], '/dev/null', { expected: input }),
    ...(hasSqlite && {
      'SQLite, appended': (round) => run([process.execPath, sqlite, 'record', join(directory, `s${round}.db`)], input),
      'SQLite, replayed': (round) => run([process.execPath, sqlite, 'replay', join(directory, `s${round}.db`)], '/dev/null', { expected: input }),
    }),
  }
  // Each of them in each round: what else the machine does is the same for all.
  const rounds = Array.from({ length: ROUNDS }, (_, round) => Object.fromEntries(Object.entries(measured).map(([title, once]) => [title, once(round)])))
  for (const title of Object.keys(measured)) {
    const runs = rounds.map((runsOf) => runsOf[title])
    rates[title] = EVENTS / median(runs.map(({ seconds }) => seconds))
    rows.push([title, rates[title].toFixed(0), String(Math.max(...runs.map(({ megabytes }) => megabytes)))])
  }
  if (hasSqlite) {
    for (const what of ['appended', 'replayed']) {
      rows.push([`times SQLite, ${what}`, (rates[`event-store, ${what}`] / rates[`SQLite, ${what}`]).toFixed(1), ''])
    }
  } else console.log('without SQLite: npm install --prefix bench')
  printTable(`${EVENTS} events of 80 bytes, median of ${ROUNDS}`, rows)
  manySessions()
  longLog()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function manySessions() {
  const logs = join(directory, 'logs')
  const env = { XDG_STATE_HOME: join(directory, 'many') }
  const one = join(directory, 'one.resp')
  writeFileSync(one, encodeFrame(['TEXT', 'more']))
  run([store, '--session', 's'], one, { env })
  const project = dirname(dirname(spawnSync(store, ['path', 's'], { env: { ...process.env, ...env }, cwd: directory }).stdout.toString()))
  const line = (seq, session, members) => `${JSON.stringify({ v: 1, seq, ts: new Date(1.77e12 + session * 1e6 + seq).toISOString(), ...members })}\n`
  const paths = Array.from({ length: SESSIONS }, (_, session) => {
    const texts = Array.from({ length: 500 }, (_, index) => line(index + 2, session, { type: 'text', text: `a few words of an answer, no more: ${index}` }))
    mkdirSync(join(project, `s${session}`))
    writeFileSync(join(project, `s${session}`, 'events.jsonl'), line(1, session, { type: 'user_message', text: `prompt ${session}` }) + texts.join(''))
    return join(project, `s${session}`, 'events.jsonl')
  })
  writeFileSync(logs, paths.join('\0'))
  const rows = [['', 'ms', 'MB']]
  for (const [title, argv, input] of [
    ['event-store list', [store, 'list'], '/dev/null'],
    ['event-store path latest', [store, 'path', 'latest'], '/dev/null'],
    ['wc -l (of all logs)', ['xargs', '-0', 'wc', '-l'], logs],
  ]) {
    const runs = Array.from({ length: ROUNDS }, () => run(argv, input, { env }))
    rows.push([title, (median(runs.map(({ seconds }) => seconds)) * 1000).toFixed(0), String(Math.max(...runs.map(({ megabytes }) => megabytes)))])
  }
  printTable(`${SESSIONS} sessions of 60 kB`, rows)
}

function longLog() {
  const path = writeLongLog()
  const one = join(directory, 'one.resp')
  writeFileSync(one, encodeFrame(['TEXT', 'more']))
  const lines = 10 * LINES_A_TURN
  const rows = [['', 'ms', 'MB']]
  for (const [title, argv, input = '/dev/null'] of [
    ['event-store replay --last 10', [store, 'replay', 'long', '--last', '10']],
    ['tail -n (as many lines)', ['tail', '-n', String(lines), path]],
    ['event-store history', [store, 'history', 'long']],
    ['event-store list', [store, 'list']],
    ['event-store --continue, one event', [store, '--continue'], one],
  ]) {
    const runs = Array.from({ length: ROUNDS }, () => run(argv, input))
    rows.push([title, (median(runs.map(({ seconds }) => seconds)) * 1000).toFixed(0), String(Math.max(...runs.map(({ megabytes }) => megabytes)))])
  }
  printTable(`A log of ${(LONG_BYTES / 1e9).toFixed(1)} GB`, rows)
}

/** Turns of 50 kB, every 500th summarised. Gives the path. */
function writeLongLog() {
  run([store, '--session', 'long'], join(directory, 'input.resp'))
  const path = spawnSync(store, ['path', 'long'], { env, cwd: directory }).stdout.toString().trim()
  const descriptor = openSync(path, 'w')
  let seq = 0
  let bytes = 0
  const line = (members) => `${JSON.stringify({ v: 1, seq: ++seq, ts: new Date(1.77e12 + seq * 10).toISOString(), ...members })}\n`
  for (let turn = 1; bytes < LONG_BYTES; turn++) {
    const lines = [line({ type: 'user_message', text: `prompt ${turn}` })]
    for (let response = 0; response < 8; response++) {
      for (let piece = 0; piece < 10; piece++) lines.push(line({ type: 'text', text: `a few words of "an answer"\nno more, ${piece}` }))
      const id = `c${seq}`
      lines.push(line({ type: 'tool_call', name: 'Bash', tool_use_id: id, input: { command: `ls ${id}` } }))
      lines.push(line({ type: 'usage', input_tokens: 100, output_tokens: 20, cache_read_tokens: 5, cache_creation_tokens: 7 }))
      lines.push(line({ type: 'tool_output', tool_use_id: id, chunk: 'x'.repeat(2000) }))
      lines.push(line({ type: 'tool_result', tool_use_id: id, name: 'Bash', content: 'line of output\n'.repeat(200), status: 'ok' }))
    }
    lines.push(line({ type: 'stop', reason: 'end_turn' }))
    if (turn % 500 === 0) lines.push(line({ type: 'context_update', kind: 'compact', trigger: 'auto', summary: 'so far', kept: 2 }))
    const text = lines.join('')
    writeSync(descriptor, text)
    bytes += text.length
  }
  closeSync(descriptor)
  return path
}

/** Wall time and largest memory of a process between files. Its output is compared with a file where one is given. */
function run(argv, input, { expected, env: more = {} } = {}) {
  const output = join(directory, 'output')
  const usage = join(directory, 'usage')
  const stdio = [openSync(input, 'r'), openSync(output, 'w'), 'inherit']
  const { status } = spawnSync('/usr/bin/time', ['-f', '%e %M', '-o', usage, ...argv], { stdio, env: { ...env, ...more }, cwd: directory })
  stdio.slice(0, 2).forEach(closeSync)
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`)
  if (expected !== undefined && !readFileSync(output).equals(readFileSync(expected))) throw new Error(`${argv.join(' ')} gave other frames`)
  const [seconds, kilobytes] = readFileSync(usage, 'utf8').split(' ').map(Number)
  return { seconds, megabytes: Math.round(kilobytes / 1024) }
}
