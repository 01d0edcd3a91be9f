import { once } from 'node:events'
import fs, { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FrameDecoder } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { Output } from '../src/index.js'
import { line, StartedStage } from './support/stage.js'

/** The sizes of the writes that `work` makes to a file, and what the file holds then. */
function writes(t: { testdir(): string }, work: (output: Output) => void): { sizes: number[]; bytes: Buffer } {
  const path = join(t.testdir(), 'out')
  const descriptor = fs.openSync(path, 'w')
  const { writeSync } = fs
  const sizes: number[] = []
  fs.writeSync = ((target: number, bytes: Buffer) => {
    const count = writeSync(target, bytes)
    if (target === descriptor) sizes.push(count)
    return count
  }) as typeof fs.writeSync
  syncBuiltinESMExports()
  try {
    const output = new Output({ descriptor, blocking: true })
    work(output)
    output.flush()
  } finally {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
    fs.closeSync(descriptor)
  }
  return { sizes, bytes: readFileSync(path) }
}

/** Bytes of each of the 2,000 frames of `floods`. */
const FRAME = frames(['TEXT', 'x'.repeat(10_000)]).length

const many = frames(...Array.from({ length: 2000 }, (_, index) => ['TEXT', `number ${index}`]))

t.test('frames that pass one after the other are one write', async (t) => {
  const { sizes, bytes } = writes(t, (output) => new FrameDecoder().push(many, (frame) => output.pass(frame)))
  t.same(sizes, [many.length])
  t.ok(bytes.equals(many))
})

t.test('frames that are left out, or come between, part the writes and stay in order', async (t) => {
  const { sizes, bytes } = writes(t, (output) => {
    let index = 0
    new FrameDecoder().push(many, (frame) => {
      index++
      if (index === 1000) output.send(['OWN'])
      else if (index !== 1500) output.pass(frame)
    })
  })
  t.ok(sizes.length <= 5)
  const list: Buffer[] = []
  new FrameDecoder().push(many, (frame) => list.push(frame.bytes))
  t.ok(bytes.equals(Buffer.concat([...list.slice(0, 999), frames(['OWN']), ...list.slice(1000, 1499), ...list.slice(1500)])))
})

t.test('many small frames of its own are few writes', async (t) => {
  const { sizes, bytes } = writes(t, (output) => {
    for (let count = 0; count < 1000; count++) output.send(['TEXT', 'x'])
  })
  t.ok(sizes.length <= 5, `${sizes.length} writes`)
  t.ok(bytes.equals(frames(...Array(1000).fill(['TEXT', 'x']))))
})

t.test('without a flush it goes out at the end of the turn', async (t) => {
  const path = join(t.testdir(), 'out')
  const descriptor = fs.openSync(path, 'w')
  const output = new Output({ descriptor })
  output.send(['TEXT', 'soon'])
  await sleep(0)
  t.ok(readFileSync(path).equals(frames(['TEXT', 'soon'])))
  await output.close()
  t.throws(() => fs.fstatSync(descriptor), { code: 'EBADF' })
})

t.test('while the reader takes nothing, no more is read than a bound; then everything arrives', async (t) => {
  const stage = new StartedStage('swells')
  stage.process.stdout.pause()
  const asked = 100
  // A frame at a time, so that it can stop in between.
  for (let count = 0; count < asked; count++) {
    stage.process.stdin.write(frames(['TEXT', 'x']))
    await sleep(3)
  }
  const [, resident] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${stage.process.pid}/status`, 'utf8')) ?? []
  t.ok(Number(resident) < 120_000, `${resident} kB held`)
  stage.process.stdin.end()
  stage.process.stdout.resume()
  t.equal((await stage.ended).status, 0)
  t.equal(stage.stderr, `swells: ${asked} frames\n`)
  t.equal(stage.output.length, asked * frames(['TEXT', Buffer.alloc(1024 * 1024)]).length)
})

t.test('who writes to a stage that waits is made to wait as well', async (t) => {
  const stage = new StartedStage('passes')
  stage.process.stdout.pause()
  const piece = frames(['TEXT', Buffer.alloc(64_000)])
  let sent = 0
  while (
    sent < 50_000_000 &&
    (stage.process.stdin.write(piece) || (await Promise.race([once(stage.process.stdin, 'drain'), sleep(1000).then(() => undefined)])))
  )
    sent += piece.length
  t.ok(sent < 5_000_000, `${sent} bytes are on their way`)
  stage.process.stdin.end()
  stage.process.stdout.resume()
  t.equal((await stage.ended).status, 0)
  t.equal(stage.output.length % piece.length, 0)
})

t.test('the reader is gone: 0, quietly, whatever kind of stage', async (t) => {
  const cwd = t.testdir()
  await line('%floods >f', { cwd })
  for (const name of ['floods', 'passes', 'swells']) {
    const { stdout, stderr } = await line(`cat f | %${name} | head -c 1 >/dev/null; echo "\${PIPESTATUS[1]}"`, { cwd })
    t.match({ stdout: stdout.toString(), stderr }, { stdout: '0\n', stderr: '' }, name)
  }
})

t.test('a full disk: 74, and why', async (t) => {
  const input = frames(['TEXT', 'x'])
  for (const name of ['floods', 'passes', 'swells']) {
    t.match(await line(`%${name} >/dev/full`, { input }), { status: 74, stderr: /cannot write to standard output: no space left on device\n$/ }, name)
  }
  t.match(await line('%passes --help >/dev/full'), { status: 74, stderr: 'passes: cannot write to standard output: no space left on device\n' })
})

/** Sets O_NONBLOCK on the pipe that it writes to, as other programs do behind our back, and becomes a program. */
const nonblocking = `python3 -c 'import fcntl,os,sys
for fd in (0,1): fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
os.execvp(sys.argv[1], sys.argv[1:])'`

t.test('a pipe that somebody made non-blocking: nothing is lost', async (t) => {
  const cwd = t.testdir()
  await line('%floods >f', { cwd })
  for (const pipeline of [`${nonblocking} %floods`, `cat f | ${nonblocking} %passes`]) {
    const { stdout, stderr } = await line(`${pipeline} | (sleep 0.5; wc -c); echo "\${PIPESTATUS[*]}"`, { cwd })
    t.match(stdout.toString(), new RegExp(`^ *${2000 * FRAME}\n[0 ]+\n$`), pipeline)
    t.equal(stderr, '')
  }
})

t.test('cat beside us never fails: its pipes stay as they are', async (t) => {
  const cwd = t.testdir()
  await line('%floods >f', { cwd })
  for (const first of ['resp write TEXT a', '%passes <f', 'cat f | %passes', '%floods']) {
    const { stdout, stderr, status } = await line(`{ ${first}; cat f; echo $? >status; } | (sleep 0.3; wc -c); cat status`, { cwd })
    t.match({ status, stderr }, { status: 0, stderr: '' }, first)
    t.match(stdout.toString(), /\n0\n$/, first)
  }
  const beside = await line('{ cat f | %passes & cat f; echo $? >status; wait; } | (sleep 0.3; wc -c); cat status', { cwd })
  t.match(beside.stdout.toString(), new RegExp(`^ *${2 * 2000 * FRAME}\n0\n$`), 'at the same time')
  t.equal(beside.stderr, '')
})
