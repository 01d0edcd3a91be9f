import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { messageSpec, toJsonLine } from '@agentpipe/message'
import { fixture, framesOf, pieces, run, shell } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { cellsOf } from '../src/cells.js'
import type { RenderOptions } from '../src/renderer.js'
import { renderChunks } from './render.js'

/** Every folder below fixtures/ that holds a capture is a case; GOLDEN=write writes anew what the cases must give. */
const cases = readdirSync(fixture()).filter((name) => existsSync(fixture(name, 'in.resp')))
const WIDTHS = [20, 80, 200]
/** Cuts in two are tried until so many bytes were rendered, at each width: at all offsets of a small capture. `make soak` asks for more. */
const CUT_BYTES = Number(process.env.GOLDEN_CUT_BYTES ?? 300_000)
/** Their captures go through the executable too. */
const EXECUTED = ['session', 'hostile', 'markdown', 'unicode', 'seed-large-result']

for (const name of cases) {
  t.test(name, async (t) => {
    const input = readFileSync(fixture(name, 'in.resp'))
    const screen = renderChunks([input])
    expect(t, name, 'screen.txt', screen)
    if (existsSync(fixture(name, 'screen.ansi'))) expect(t, name, 'screen.ansi', renderChunks([input], { depth: 16 }))
    expect(t, name, 'events.jsonl', eventLines(input))
    checkPlain(t, screen)
    for (const width of WIDTHS) checkCuts(t, input, { width, depth: 16 })
    if (EXECUTED.includes(name)) await checkExecutable(t, name, screen)
  })
}

function expect(t: Test, name: string, file: string, found: string): void {
  if (process.env.GOLDEN === 'write') writeFileSync(fixture(name, file), found)
  t.equal(found, readFileSync(fixture(name, file), 'utf8'), file)
}

/** What events.jsonl holds of the session: events and HELLO, without what event-store adds. */
function eventLines(input: Buffer): string {
  return framesOf(input)
    .filter((frame) => frame.type === 'HELLO' || messageSpec(frame.type)?.kind === 'event')
    .map((frame) => `${toJsonLine(frame)}\n`)
    .join('')
}

function checkPlain(t: Test, screen: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  t.notMatch(screen, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/, 'nothing but printable text and line ends')
  t.same(
    // Code is not wrapped.
    screen.split('\n').filter((line) => cellsOf(line) > 80 && !line.includes('not wrapped')),
    [],
    'no line is wider than the screen',
  )
}

function checkCuts(t: Test, input: Buffer, options: Partial<RenderOptions>): void {
  const whole = renderChunks([input], options)
  t.equal(renderChunks(pieces(input, 1), options), whole, `byte by byte, ${options.width} wide`)
  const step = Math.ceil(input.length ** 2 / CUT_BYTES)
  const wrong: number[] = []
  for (let at = 0; at < input.length; at += step) {
    if (renderChunks([input.subarray(0, at), input.subarray(at)], options) !== whole) wrong.push(at)
  }
  t.same(wrong, [], `cut at every ${step === 1 ? '' : `${step}th `}offset, ${options.width} wide`)
}

async function checkExecutable(t: Test, name: string, screen: string): Promise<void> {
  const file = fixture(name, 'in.resp')
  const line = 'resp-render --width 80 <"$1"'
  const fromFile = await shell(line, [file])
  t.match(fromFile, { status: 0, stderr: '' })
  t.equal(fromFile.stdout.toString(), screen, 'the executable, from a file')
  const live = await shell('{ head -c 100; sleep .05; head -c 33; sleep .05; cat; } <"$1" | resp-render', [file], { env: { COLUMNS: '80' } })
  t.equal(live.stdout.toString(), screen, 'the executable, live')
}

t.test('broken captures', async (t) => {
  for (const file of readdirSync(fixture('broken')).filter((name) => name.endsWith('.resp'))) {
    const name = file.replace(/\.resp$/, '')
    const { status, stdout, stderr } = await run('resp-render', [], { input: readFileSync(fixture('broken', file)) })
    const found = stderr.replace(/^resp-render: /, '')
    if (process.env.GOLDEN === 'write') writeFileSync(fixture('broken', `${name}.txt`), found)
    t.equal(found, readFileSync(fixture('broken', `${name}.txt`), 'utf8'), name)
    t.equal(status, 65)
    t.equal(stdout.toString(), name === 'junk-first' ? '' : 'one\n', 'what is whole is shown, and nothing else')
  }
})
