// Megabytes a second through a whole process that passes every frame on, from a pipe to a pipe, beside cat and Node's own pipe(), which look at nothing.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame } from '../packages/frame/build/src/index.js'
import { median, printTable } from './table.mjs'

const ROUNDS = 5
const directory = mkdtempSync(join(tmpdir(), 'agentpipe-bench-'))
const env = { ...process.env, PATH: `${new URL('../dist/bin', import.meta.url).pathname}:${process.env.PATH}`, XDG_STATE_HOME: directory }

const inputs = {
  'frames of 50 bytes': Buffer.concat(Array(2_000_000).fill(encodeFrame(['TEXT', 'a few words of an answer, no more']))),
  'fields of 64 MiB': Buffer.concat(Array(4).fill(encodeFrame(['TEXT', Buffer.alloc(64 * 1024 * 1024, 'x')]))),
}
const commands = ['cat', "node -e 'process.stdin.pipe(process.stdout)'", 'resp grep -v NOSUCH']

const rows = Object.entries(inputs).map(([title, bytes]) => {
  const file = join(directory, 'frames')
  writeFileSync(file, bytes)
  return [title, ...commands.map((command) => rate(command, file, bytes.length))]
})
rmSync(directory, { recursive: true, force: true })
printTable(`Pass-through, MB/s with start-up, pipe to pipe, median of ${ROUNDS}`, [['', 'cat', 'Node pipe()', 'resp grep -v'], ...rows])

function rate(command, file, size) {
  const rates = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint()
    const count = execFileSync('sh', ['-c', `cat "$1" | ${command} | wc -c`, 'sh', file], { env })
    if (Number(count) < size) throw new Error(`${command}: ${count} of ${size} bytes`)
    return size / 1e6 / (Number(process.hrtime.bigint() - start) / 1e9)
  })
  return median(rates).toFixed(0)
}
