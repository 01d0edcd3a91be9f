// What tool-runner adds to a command: beside bash itself, cat and, for confined ones, what bubblewrap costs by itself.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame, FrameDecoder } from '../packages/frame/build/src/index.js'
import { median, printTable } from './table.mjs'

const ROUNDS = 3
const CALLS = 200
const BYTES = 1e9
const directory = mkdtempSync(join(tmpdir(), 'agentpipe-bench-'))
const env = { ...process.env, PATH: `${new URL('../dist/bin', import.meta.url).pathname}:${process.env.PATH}`, TMPDIR: directory }

/** A tool-runner that has answered a first call, so that start-up does not count. */
async function started(options = []) {
  const child = spawn('tool-runner', options, { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  const decoder = new FrameDecoder()
  child.stdout.on('data', (chunk) =>
    decoder.push(chunk, (frame) => {
      if (frame.type !== 'TOOL_RESULT') return
      if (frame.text(5) !== 'ok') throw new Error(`${frame.text(2)}: ${frame.text(3)}`)
      waiting.get(frame.text(1))?.()
    }),
  )
  let ids = 0
  const calls = (count, name, input) => {
    const answers = Array.from({ length: count }, () => {
      const id = `c${++ids}`
      child.stdin.write(encodeFrame(['TOOL_CALL', name, id, JSON.stringify(input(ids))]))
      return new Promise((resolve) => waiting.set(id, resolve))
    })
    return Promise.all(answers)
  }
  await calls(1, 'Bash', () => ({ command: 'true' }))
  return { child, calls }
}

async function milliseconds(work) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return median(times)
}

async function costOfCalls(options) {
  const { child, calls } = await started(options)
  const cost = (await milliseconds(() => calls(CALLS, 'Bash', () => ({ command: 'true' })))) / CALLS
  child.stdin.end()
  return cost
}

const bare = (await milliseconds(() => execFileSync('sh', ['-c', `for i in $(seq ${CALLS}); do bash -c true </dev/null; done`]))) / CALLS
const ways = [
  ['bash -c true', bare],
  ['Bash true', await costOfCalls([])],
]
const space = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc']
if (spawnSync('bwrap', [...space, 'true']).status === 0) {
  ways.push(['confined, with network', await costOfCalls(['--sandbox=bwrap', '--network'])], ['confined', await costOfCalls(['--sandbox=bwrap'])])
}
printTable(`A command that does nothing, ${CALLS} in one stream, median of ${ROUNDS}`, [
  ['', 'ms a call', 'times bash'],
  ...ways.map(([name, ms]) => [name, ms.toFixed(2), (ms / bare).toFixed(1)]),
])

const cat = await milliseconds(() => execFileSync('sh', ['-c', `yes | head -c ${BYTES} | cat >"${directory}/cat"`]))
rmSync(join(directory, 'cat'))
const { child, calls } = await started()
const megabytesOf = (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024
const before = megabytesOf('VmHWM')
const start = performance.now()
await calls(1, 'Bash', () => ({ command: `yes | head -c ${BYTES}` }))
const ms = performance.now() - start
printTable('One gigabyte of output of one command, into a file', [
  ['', 'MB/s', 'peak memory, MB'],
  ['cat', (BYTES / 1e3 / cat).toFixed(0), ''],
  ['Bash', (BYTES / 1e3 / ms).toFixed(0), `${megabytesOf('VmHWM').toFixed(0)} (${before.toFixed(0)} before)`],
])
child.stdin.end()

for (let index = 0; index < 100; index++) writeFileSync(join(directory, `f${index}`), 'a line of text, as files have them\n'.repeat(200))
const reader = await started()
const reads = await milliseconds(() => reader.calls(100, 'Read', (id) => ({ path: `f${id % 100}` })))
const cats = await milliseconds(() => execFileSync('sh', ['-c', `for i in $(seq 0 99); do cat "${directory}/f$i"; done >/dev/null`]))
printTable(`A hundred files read side by side, median of ${ROUNDS}`, [
  ['', 'ms'],
  ['cat, one after the other', cats.toFixed(1)],
  ['Read', reads.toFixed(1)],
])
reader.child.stdin.end()
await new Promise((resolve) => reader.child.once('close', resolve))
rmSync(directory, { recursive: true, force: true })
