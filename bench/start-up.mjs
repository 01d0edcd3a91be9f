// How long each executable takes to do next to nothing, beside a Node that does nothing: medians of 20, taken in turn.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, printTable } from './table.mjs'

const ROUNDS = 20
const bin = new URL('../dist/bin/', import.meta.url).pathname
const state = mkdtempSync(join(tmpdir(), 'agentpipe-bench-'))

/** What is started: with nothing on stdin, a stage is at its end as soon as it runs. */
const arguments_ = {
  resp: ['write', 'END'],
  agentpipe: ['--print-script', 'hello'],
  'agent-loop': ['--provider', 'replay', '--from', '/dev/null'],
  // It needs a terminal, which this is not: what it takes until it knows.
  'user-prompt': [],
}
const EX_UNAVAILABLE = 69
const commands = [
  ['node -e 0', process.execPath, ['-e', '0']],
  ...readdirSync(bin).map((name) => [[name, ...(arguments_[name] ?? [])].join(' '), join(bin, name), arguments_[name] ?? []]),
]
const times = commands.map(() => [])

for (let round = 0; round < ROUNDS + 2; round++) {
  for (const [index, [title, command, args]] of commands.entries()) {
    const start = process.hrtime.bigint()
    const { status, stderr } = spawnSync(command, args, { input: '', env: { ...process.env, XDG_STATE_HOME: state } })
    const milliseconds = Number(process.hrtime.bigint() - start) / 1e6
    if (status !== (title === 'user-prompt' ? EX_UNAVAILABLE : 0)) throw new Error(`${title}: status ${status}: ${stderr}`)
    // The first two warm the disk cache.
    if (round >= 2) times[index].push(milliseconds)
  }
}
rmSync(state, { recursive: true, force: true })

const bare = median(times[0])
printTable(`Start to end, median of ${ROUNDS}`, [
  ['', 'ms', 'of node -e 0'],
  ...commands.map(([title], index) => [title, median(times[index]).toFixed(1), `${(median(times[index]) / bare).toFixed(2)}x`]),
])
