import { encodeFrame } from '@agentpipe/frame'
import type { Trial } from './conform-trial.js'

/** A point of the stage contract. `check` gives what is wrong, or undefined. */
export interface Point {
  readonly name: string
  readonly check: (trial: Trial) => Promise<string | undefined>
}

const one = encodeFrame(['X_CONFORM', 'one', 'a field that nobody owns', 'key', 'value'])
const two = encodeFrame(['X_CONFORM_2'])
const text = Buffer.concat([one, two, encodeFrame(['X_CONFORM_3', '', 'two\r\nlines, $5\r\n*2\r\n', 'naïve 日本語'])])
const octets = encodeFrame(['X_CONFORM', Buffer.from([0, 255, 254, 13, 10, 0, 128])])
const large = encodeFrame(['X_CONFORM', Buffer.alloc(1 << 20, 'large ')])
const STACK_TRACE = /^\s+at .+:\d+|^Traceback \(most recent call last\)/m

/** More than pipes and buffers of any decent stage hold, in small frames. */
const UNREAD_BYTES = 64 << 20

export const POINTS: readonly Point[] = [
  { name: 'passes frames that it does not own, byte for byte and in order', check: (trial) => passes(trial, text) },
  { name: 'passes fields of any octets', check: (trial) => passes(trial, octets) },
  { name: 'passes a field of 1 MiB', check: (trial) => passes(trial, large) },
  { name: 'takes input that is cut at every byte', check: (trial) => passes(trial, text, 1) },
  {
    name: 'passes each frame on without waiting for more',
    async check(trial) {
      trial.read()
      for (const [index, frame] of [one, two].entries()) {
        trial.send(frame)
        const length = index === 0 ? one.length : one.length + two.length
        if (!(await trial.until(() => trial.stdout.length >= length))) return 'it holds what it has read: its output has to be flushed behind each frame'
      }
      return undefined
    },
  },
  {
    name: 'leaves with 0 at the end of its input',
    async check(trial) {
      trial.read()
      trial.endInput()
      return ending(trial, [0])
    },
  },
  { name: 'refuses what is no frame: 65, and all before it has gone on', check: (trial) => refuses(trial, Buffer.from('*1\r\n$+3\r\nEND\r\n')) },
  { name: 'refuses input that ends inside a frame: 65', check: (trial) => refuses(trial, one.subarray(0, -4)) },
  {
    name: 'stops quietly when its reader is gone, or at the end of its input',
    async check(trial) {
      trial.closeOutput()
      for (let frame = 0; frame < 20 && trial.end === undefined; frame++) {
        trial.send(one)
        await trial.until(() => trial.end !== undefined, 20)
      }
      trial.endInput()
      return (await ending(trial, [0, 141, 'SIGPIPE'])) ?? trace(trial)
    },
  },
  {
    name: 'goes on after SIGINT, to the end of its input',
    async check(trial) {
      trial.read()
      trial.send(one)
      // Once a frame has come through it is up, and has set its signals.
      await trial.until(() => trial.stdout.length >= one.length)
      trial.signal('SIGINT')
      return passes(trial, two, two.length, one)
    },
  },
  {
    name: 'leaves on SIGTERM',
    async check(trial) {
      trial.read()
      trial.send(one)
      await trial.until(() => trial.stdout.length >= one.length)
      trial.signal('SIGTERM')
      if (!(await trial.until(() => trial.end !== undefined))) return 'it runs on'
      return trace(trial)
    },
  },
  {
    name: 'reads no more while nobody takes what it writes',
    async check(trial) {
      const frames = Buffer.concat(Array.from({ length: 512 }, () => one))
      const taken = await trial.taken(frames, UNREAD_BYTES)
      return taken < UNREAD_BYTES ? undefined : `it took ${UNREAD_BYTES >> 20} MiB: its memory has no bound`
    },
  },
]

/** Sends `bytes` in pieces of `size`, and wants `before` and them, no more and no less, and status 0. */
async function passes(trial: Trial, bytes: Uint8Array, size = bytes.length, before: Uint8Array = Buffer.alloc(0)): Promise<string | undefined> {
  trial.read()
  for (let start = 0; start < bytes.length; start += size) {
    trial.send(bytes.subarray(start, start + size))
    // A turn of the event loop each, so that the pieces are writes of their own.
    if (size < bytes.length) await new Promise((resolve) => setImmediate(resolve))
  }
  trial.endInput()
  return (await ending(trial, [0])) ?? difference(Buffer.concat([before, bytes]), trial.stdout)
}

async function refuses(trial: Trial, wrong: Uint8Array): Promise<string | undefined> {
  trial.read()
  trial.send(Buffer.concat([one, wrong]))
  trial.endInput()
  const before = async () => (trial.stdout.subarray(0, one.length).equals(one) ? undefined : 'the frame before it was lost')
  return (await ending(trial, [65])) ?? (await before()) ?? (trial.stderr === '' ? 'it says nothing on stderr' : trace(trial))
}

async function ending(trial: Trial, wanted: readonly (number | string)[]): Promise<string | undefined> {
  if (!(await trial.until(() => trial.end !== undefined))) return 'it does not end'
  if (wanted.includes(trial.end as number | string)) return undefined
  const [line = ''] = trial.stderr.trim().split('\n').slice(-1)
  return `it ended with ${trial.end}${line === '' ? '' : `, saying: ${line.slice(0, 200)}`}`
}

function trace(trial: Trial): string | undefined {
  return STACK_TRACE.test(trial.stderr) ? 'it prints a stack trace' : undefined
}

function difference(expected: Buffer, found: Buffer): string | undefined {
  if (found.equals(expected)) return undefined
  let at = 0
  while (at < found.length && found[at] === expected[at]) at++
  if (at === found.length) return `of ${expected.length} bytes only ${at} came out`
  return `byte ${at} of its output is another: ${JSON.stringify(found.subarray(at, at + 20).toString('latin1'))}`
}
