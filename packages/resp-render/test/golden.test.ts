import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Frame, FrameDecoder } from '@agentpipe/frame'
import { messageSpec, toJsonLine } from '@agentpipe/message'
import { fixture, framesOf, pieces, run, shell } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { cellsOf } from '../src/cells.js'
import { Renderer, type RenderOptions } from '../src/renderer.js'
import { OPTIONS, renderChunks } from './render.js'

/** Every folder below fixtures/ that holds a capture is a case; GOLDEN=write writes anew what the cases must give. */
const cases = readdirSync(fixture()).filter((name) => existsSync(fixture(name, 'in.resp')))
const WIDTHS = [20, 80, 200]
/** `make soak` renders cuts in two at so many bytes a case and width, through decoder and renderer as one. */
const CUT_BYTES = Number(process.env.GOLDEN_CUT_BYTES ?? 0)
/** The decoder alone is cut at every offset, but of the one capture that would take billions of bytes. */
const DECODED_BYTES = 2.5e8

for (const name of cases) {
  t.test(name, async (t) => {
    const input = readFileSync(fixture(name, 'in.resp'))
    const screen = renderChunks([input])
    expect(t, name, 'screen.txt', screen)
    if (existsSync(fixture(name, 'screen.ansi'))) expect(t, name, 'screen.ansi', renderChunks([input], { depth: 16 }))
    expect(t, name, 'events.jsonl', eventLines(input))
    checkPlain(t, screen)
    checkDecoder(t, input)
    for (const width of WIDTHS) checkCuts(t, input, { width, depth: 16 })
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

/** What a cut inside a frame gives the renderer: the very frames, one after the other. */
function checkDecoder(t: Test, input: Buffer): void {
  const decoded = (...chunks: readonly Buffer[]) => {
    const found = Buffer.alloc(input.length)
    const decoder = new FrameDecoder()
    let at = 0
    for (const chunk of chunks) decoder.push(chunk, (frame: Frame) => (at += frame.bytes.copy(found, at)))
    return found.equals(input)
  }
  const step = Math.ceil(input.length ** 2 / DECODED_BYTES)
  const wrong: number[] = []
  for (let at = 0; at < input.length; at += step) if (!decoded(input.subarray(0, at), input.subarray(at))) wrong.push(at)
  t.same(wrong, [], 'the same frames, cut at every offset')
}

/** A cut inside a frame is for the renderer one in front of that frame: so those between frames are all there are. */
function checkCuts(t: Test, input: Buffer, options: Partial<RenderOptions>): void {
  const whole = renderChunks([input], options)
  t.equal(renderChunks(pieces(input, 1), options), whole, `byte by byte, ${options.width} wide`)
  const frames = framesOf(input)
  const wrong = [...frames.keys()].filter((cut) => renderCut(frames, cut, options) !== whole)
  t.same(wrong, [], `cut behind every frame, ${options.width} wide`)
  if (CUT_BYTES === 0) return
  const step = Math.ceil(input.length ** 2 / CUT_BYTES)
  for (let at = 0; at < input.length; at += step) {
    if (renderChunks([input.subarray(0, at), input.subarray(at)], options) !== whole) t.fail(`cut at ${at}, ${options.width} wide`)
  }
}

function renderCut(frames: readonly Frame[], cut: number, options: Partial<RenderOptions>): string {
  const renderer = new Renderer({ ...OPTIONS, ...options })
  for (const frame of frames.slice(0, cut)) renderer.frame(frame)
  const before = renderer.take()
  for (const frame of frames.slice(cut)) renderer.frame(frame)
  renderer.end()
  return before + renderer.take()
}

t.test('the executable, all captures one after the other', async (t) => {
  const captures = cases.map((name) => fixture(name, 'in.resp'))
  const screen = renderChunks(captures.map((file) => readFileSync(file)))
  const fromFile = await shell('cat "$@" | resp-render --width 80', captures)
  t.match(fromFile, { status: 0, stderr: '' })
  t.equal(fromFile.stdout.toString(), screen)
  const live = await shell('cat "$@" | { head -c 100; sleep .05; head -c 33; sleep .05; cat; } | resp-render', captures, { env: { COLUMNS: '80' } })
  t.equal(live.stdout.toString(), screen, 'live')
})

t.test('broken captures', async (t) => {
  for (const file of readdirSync(fixture('broken')).filter((name) => name.endsWith('.resp'))) {
    const name = file.replace(/\.resp$/, '')
    const input = readFileSync(fixture('broken', file))
    const whole = name === 'junk-first' ? '' : 'one\n'
    const { found, screen } = renderBroken(input)
    expect(t, 'broken', `${name}.txt`, found)
    t.equal(screen, whole, `${name}: what is whole is shown, and nothing else`)
    if (!['junk-first', 'hostile-junk', 'truncated-in-field'].includes(name)) continue
    const { status, stdout, stderr } = await run('resp-render', [], { input })
    t.match({ status, stderr, stdout: stdout.toString() }, { status: 65, stderr: `resp-render: ${found}`, stdout: whole }, `${name}: the executable`)
  }
})

/** As the executable does: what is whole is shown, then what is wrong is said. */
function renderBroken(input: Buffer): { found: string; screen: string } {
  const renderer = new Renderer(OPTIONS)
  const decoder = new FrameDecoder()
  let found = 'nothing'
  try {
    decoder.push(input, (frame) => renderer.frame(frame))
    decoder.end()
  } catch (error) {
    found = `${(error as Error).message}\n`
  }
  renderer.end()
  return { found, screen: renderer.take() }
}
