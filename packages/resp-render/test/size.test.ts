import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { encodeFrame } from '@agentpipe/frame'
import { root, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { render } from './render.js'

/** How many times as long `make soak` makes what is rendered. */
const TIMES = Number(process.env.RENDER_TIMES ?? 1)

/** Milliseconds that rendering takes. */
function time(frames: Parameters<typeof render>[0], options = {}): number {
  const start = process.cpuUsage()
  t.not(render(frames, options), '')
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

t.test('anything on one line costs time linear in its length', async (t) => {
  const pieces = [
    '*',
    '[',
    '`',
    '|',
    '{',
    '> ',
    'x',
    ' ',
    '\t',
    '\r',
    '\n',
    '\b',
    '漢',
    '\u0301',
    '👨‍👩‍👧',
    '\x1b[',
    '\x1b]',
    '\x1b[31m',
    '\u202e',
    '🇯🇵',
    '\x1b[K\r1',
    '9',
  ]
  for (const piece of pieces) {
    for (const type of ['TEXT', 'TOOL_OUTPUT']) {
      const frame = (length: number) => [
        ['TEXT', 'x'],
        [type, ...(type === 'TEXT' ? [] : ['c1']), piece.repeat(Math.ceil(length / piece.length))],
      ]
      const [short, long] = [time(frame(25_000 * TIMES)), time(frame(200_000 * TIMES))]
      t.ok(long < 24 * Math.max(short, 20), `${type} of ${JSON.stringify(piece)}: ${short} ms and ${long} ms`)
    }
  }
})

t.test('what a delta costs does not depend on what came before it', async (t) => {
  for (const piece of ['*', '[', '`', '> ', '- ', '**a ', '](', '<a ', '&', '\\', '|', '|a|\n', 'https://', '\t', '[a]: b\n', '```\n', 'x\n===\n', 'a\n']) {
    const deltas = (length: number) => {
      const bytes = Buffer.from(piece.repeat(Math.ceil(length / piece.length)))
      return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => ['TEXT', bytes.subarray(index * 7, index * 7 + 7)])
    }
    const [short, long] = [time([['TEXT', 'x\n\n'], ...deltas(4_000 * TIMES)]), time([['TEXT', 'x\n\n'], ...deltas(32_000 * TIMES)])]
    t.ok(long < 24 * Math.max(short, 20), `${JSON.stringify(piece)}: ${short} ms and ${long} ms`)
  }
})

t.test('code that is none costs time linear in its length, in any language', async (t) => {
  for (const [language, piece] of [
    ['js', '(a'],
    ['ts', '"${'],
    ['js', ')]}('],
    ['json', '(a'],
    ['cmake', '0'],
    ['erlang', '-'],
    ['tex', 'q{'],
    ['html', '<div>'],
  ] as const) {
    const code = (lines: number) => [['TEXT', `\`\`\`${language}\n${`${piece.repeat(150)}\n`.repeat(lines)}`]]
    const [short, long] = [time(code(20 * TIMES), { depth: 16 }), time(code(160 * TIMES), { depth: 16 })]
    t.ok(long < 24 * Math.max(short, 20), `${language} ${piece}: ${short} ms and ${long} ms`)
  }
})

t.test('much text in deltas of one byte', async (t) => {
  const text = 'The quick brown fox, naïve 狐. '.repeat(3_000 * TIMES)
  const deltas = [...Buffer.from(text)].map((byte) => ['TEXT', Buffer.from([byte])])
  t.equal(render(deltas), render([['TEXT', text]]))
})

t.test('a field of 64 MiB, and long streams, in bounded memory', async (t) => {
  const large = encodeFrame(['TOOL_RESULT', 'c1', 'Bash', Buffer.alloc(64 * 1024 * 1024, 'all work and no play\n')])
  t.ok((await peak([large])) < 400, 'the largest frame')
  const deltas = Buffer.concat(Array.from({ length: 20_000 }, () => encodeFrame(['TEXT', ' word'])))
  t.ok((await peak(Array.from({ length: 20 * TIMES }, () => deltas))) < 120, 'long text')
  const output = Buffer.concat(Array.from({ length: 5_000 }, (_, index) => encodeFrame(['TOOL_OUTPUT', `c${index % 50}`, '100%\r'.repeat(20)])))
  t.ok((await peak(Array.from({ length: 10 * TIMES }, () => output))) < 120, 'progress bars that never end')
})

/** Runs resp-render on chunks; gives its peak memory in MB. */
async function peak(chunks: readonly Buffer[]): Promise<number> {
  const child = spawn(`${root}/dist/bin/resp-render`, [], { env: testEnvironment(), stdio: ['pipe', 'ignore', 'inherit'] })
  for (const chunk of chunks) if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  // Whatever was written has been read by now, but for the last chunk: the peak is behind us.
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  child.stdin.end()
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}
