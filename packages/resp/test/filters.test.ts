import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { eventually, everyCut, fieldsOf, frames, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { Started } from './support/started.js'

/** Every verb that reads frames, and what it makes of one. */
const FILTERS: readonly (readonly string[])[] = [['json'], ['dump'], ['grep', '-v', 'PROMPT'], ['check'], ['stat'], ['merge', '-']]
/** Those that print something for each frame. */
const STREAMING = FILTERS.filter(([verb]) => verb !== 'check' && verb !== 'stat')

const input = frames(['TEXT', 'é漢😀'], ['TEXT', ''], ['TOOL_RESULT', 'c1', 'Bash', 'x\r\ny\xff'], ['TOOL_CALL', 'Bash', 'c\n1', '{}'], ['MY_OWN'])
const END = frames(['END'])
/** `make soak` sends more through them. */
const MEGABYTES = Number(process.env.FILTER_MEGABYTES ?? 80)

for (const args of FILTERS) {
  const name = args.join(' ')

  t.test(`${name}: input byte by byte, and cut at every offset; AGENTPIPE_TRACE`, async (t) => {
    const whole = await run('resp', args, { input, env: { AGENTPIPE_TRACE: '1' } })
    t.match(whole.stderr, 'resp < TOOL_CALL id=c\\n1\n')

    // One process for all of it: what a filter makes of a frame does not depend on those before.
    const cut = new Started(args)
    await cut.drip(input)
    let times = 1
    for (const parts of everyCut(input)) {
      times++
      for (const part of parts) {
        cut.process.stdin.write(part)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    cut.process.stdin.end()
    t.equal(await cut.ended, 0)
    t.ok(cut.output.equals(await repeated(args, whole.stdout, times)))
  })

  t.test(`${name}: malformed input is 65 with its offset, what came before is handled`, async (t) => {
    for (const [bad, offset] of [
      ['junk\x1b[2J\n', input.length],
      ['*2\r\n$4\r\nTEXT\r\n$10\r\nhello', input.length + 24],
    ] as const) {
      const ended = await run('resp', args, { input: Buffer.concat([input, Buffer.from(bad)]) })
      t.equal(ended.status, 65)
      t.match(ended.stderr, new RegExp(`^resp: [\\x20-\\x7e]*at byte ${offset}[\\x20-\\x7e]*\\n$`))
      if (args[0] === 'grep' || args[0] === 'merge') {
        t.ok(ended.stdout.subarray(0, input.length).equals(input))
        t.match(fieldsOf(ended.stdout)[5], ['ERROR', /at byte/, 'code', 'malformed', 'source', 'resp', 'offset', `${offset}`])
      }
    }
  })

  t.test(`${name}: closed stdin, an empty file, a full disk`, async (t) => {
    t.match(await shell(`resp ${name} <&-`), { status: 0, stderr: '' })
    t.match(await shell(`resp ${name} </dev/null`), { status: 0, stderr: '' })
    if (args[0] === 'check') return
    t.match(await shell(`resp ${name} >/dev/full`, [], { input }), { status: 74, stderr: 'resp: cannot write to standard output: no space left on device\n' })
  })
}

for (const args of STREAMING) {
  const name = args.join(' ')

  t.test(`${name}: a frame is handled when it is whole, without waiting for more`, async (t) => {
    const started = new Started(args)
    started.process.stdin.write(input.subarray(0, input.length - 1))
    await eventually(() => started.output.length > 0)
    const before = started.output.length
    started.process.stdin.write(input.subarray(input.length - 1))
    t.ok(await eventually(() => started.output.length > before))
    started.process.stdin.end()
    t.equal(await started.ended, 0)
  })

  t.test(`${name}: the reader leaves: quiet, 0, and it reads no further`, async (t) => {
    const { stdout, status, stderr } = await shell(`resp ${name} | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`, [], {
      input: Buffer.concat(Array<Buffer>(20_000).fill(input)),
    })
    t.match({ stdout: stdout.toString(), status, stderr }, { stdout: '0\n', status: 0, stderr: '' })
  })

  t.test(`${name}: memory has a bound, however long the stream and slow the reader`, async (t) => {
    const started = new Started(args)
    const { stdin, stdout, pid } = started.process
    stdout.removeAllListeners('data')
    stdout.on('data', () => {
      stdout.pause()
      setImmediate(() => stdout.resume())
    })
    const piece = Buffer.concat(Array<Buffer>(16).fill(frames(['TEXT', Buffer.alloc(60_000, 'x')])))
    for (let count = 0; count < MEGABYTES; count++) if (!stdin.write(piece)) await once(stdin, 'drain')
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    stdin.end()
    t.equal(await started.ended, 0)
    t.ok(Number(peak) > 20_000 && Number(peak) < 60_000 + MEGABYTES * 500, `${peak} kB for ${MEGABYTES} MB of frames`)
  })
}

/** What a filter that makes `output` of the input makes of it `times` times. */
async function repeated(args: readonly string[], output: Buffer, times: number): Promise<Buffer> {
  const copies = (bytes: Buffer) => Array<Buffer>(times).fill(bytes)
  if (args[0] === 'stat') return (await run('resp', args, { input: Buffer.concat(copies(input)) })).stdout
  // Only the end of all of it is the end of `-`.
  if (args[0] === 'merge') return Buffer.concat([...copies(output.subarray(0, -END.length)), END])
  return Buffer.concat(copies(output))
}
