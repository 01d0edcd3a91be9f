// How fast resp-render shows markdown and tool output, beside npm marked-terminal and, where it is installed, Debian's lowdown; and the memory each takes.
// The peers get the text whole, resp-render in deltas of a few words, as models send it. BENCH_MB is how much (10).
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame } from '../packages/frame/build/src/index.js'
import { printTable } from './table.mjs'

const MEGABYTES = Number(process.env.BENCH_MB ?? 10)
const DELTA = 20
const directory = mkdtempSync(join(tmpdir(), 'agentpipe-bench-'))
const bin = new URL('../dist/bin/resp-render', import.meta.url).pathname

const PROSE = `## What was wrong

The function \`sum\` in **src/cart.js** *subtracts* each price, see [the manual](https://example.com/manual) for what it should do. The rest of this
paragraph has no markup at all, as most of what a model says, and goes on for a while, so that it has to be wrapped.

- It is called in \`total()\`, which is right.
- It has a test, which was **not** run.

| File | Lines |
|------|------:|
| src/cart.js | 12 |
| test/cart.test.js | 30 |

`
const CODE = `Here it is:

\`\`\`ts
${'/** Adds up what is in the cart. */\nexport function total(items: readonly Item[], rate = 0.19): number {\n  return items.reduce((sum, { price, count }) => sum + price * count, 0) * (1 + rate)\n}\n'.repeat(6)}\`\`\`

`
const OUTPUT = '\x1b[32mok\x1b[0m 12 - adds up what is in the cart (0.2 ms) and a few more words\n'

function repeated(unit) {
  return unit.repeat(Math.ceil((MEGABYTES * 1e6) / Buffer.byteLength(unit)))
}

/** A capture of a text in small frames. */
function capture(name, text, fields, delta) {
  const path = join(directory, `${name}.resp`)
  const file = openSync(path, 'w')
  for (let at = 0; at < text.length; ) {
    const frames = []
    for (const end = at + 1e6; at < text.length && at < end; at += delta) frames.push(encodeFrame([...fields, text.slice(at, at + delta)]))
    writeSync(file, Buffer.concat(frames))
  }
  closeSync(file)
  return path
}

/** Runs a command with a file as its input: seconds of processor time, and MB at the most. */
function measure(command, args, input) {
  return new Promise((resolve, reject) => {
    const file = openSync(input, 'r')
    const child = spawn(command, args, { stdio: [file, 'pipe', 'inherit'], env: { ...process.env, FORCE_COLOR: '1', TERM: 'xterm-256color' } })
    closeSync(file)
    child.stdout.resume()
    let [megabytes, seconds] = [0, 0]
    const timer = setInterval(() => {
      try {
        const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
        if (peak !== undefined) megabytes = Number(peak) / 1024
        const [user, system] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number)
        seconds = (user + system) / 100
      } catch {
        // It has just ended.
      }
    }, 10)
    child.on('error', reject)
    child.on('close', () => {
      clearInterval(timer)
      resolve({ seconds, megabytes })
    })
  })
}

const MARKED = `const { marked } = require('marked'); const { markedTerminal } = require('marked-terminal'); marked.use(markedTerminal());
process.stdout.write(marked.parse(require('fs').readFileSync(0, 'utf8')))`

const rows = [['', 'MB/s', 'MB of memory']]
const add = (title, { seconds, megabytes }) => rows.push([title, (MEGABYTES / seconds).toFixed(1), megabytes.toFixed(0)])
try {
  for (const [name, unit] of [
    ['prose', PROSE],
    ['code', CODE],
  ]) {
    const text = repeated(unit)
    const path = join(directory, `${name}.md`)
    writeFileSync(path, text)
    const deltas = capture(name, text, ['TEXT'], DELTA)
    add(`${name}: resp-render`, await measure(bin, ['--width', '80'], deltas))
    if (process.env.BENCH_ALONE) continue
    add(`${name}: marked-terminal`, await measure(process.execPath, ['--max-old-space-size=8000', '-e', MARKED], path))
    const lowdown = await measure('lowdown', ['-Tterm', '--term-columns=80'], path).catch(() => undefined)
    if (lowdown) add(`${name}: lowdown`, lowdown)
  }
  const output = capture('output', repeated(OUTPUT), ['TOOL_OUTPUT', 'c1'], 500)
  add('tool output: resp-render', await measure(bin, [], output))
  add('tool output, all of it: resp-render', await measure(bin, ['--tool-output', 'all'], output))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
printTable(`${MEGABYTES} MB, processor time`, rows)
