import { closeSync, openSync, writeFileSync } from 'node:fs'
import { Frame } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { frameBytes } from '../src/frame-bytes.js'
import { linesOf } from '../src/lines.js'
import { readLog } from '../src/log-reader.js'
import { recordLine } from '../src/record.js'

const BLOCK = 256 * 1024

function record(seq: number, fields: string[]): string {
  const bytes = frames(fields)
  return recordLine(new Frame(bytes, 0, bytes.length, 0), seq, '2026-12-01T09:30:00.123Z')
}

t.test('lines are those of the text, wherever blocks meet', async (t) => {
  const path = `${t.testdir()}/lines`
  const x = (count: number) => 'x'.repeat(count)
  for (const lines of [
    [''],
    ['', ''],
    ['a'],
    [x(BLOCK - 1), 'b', ''],
    [x(BLOCK), 'b', ''],
    [x(BLOCK + 1), 'b'],
    ['a', x(BLOCK - 2), x(BLOCK * 3), '', x(BLOCK - 1), x(BLOCK * 2 - 1), 'end'],
    [...Array.from({ length: 900 }, (_, index) => x(index)), ''],
  ]) {
    const text = lines.join('\n')
    writeFileSync(path, text)
    const descriptor = openSync(path, 'r')
    let start = 0
    const found: string[] = []
    for (const line of linesOf(descriptor)) {
      if (line.start !== start) t.fail(`begins at ${line.start}, not at ${start}`)
      start += line.length + 1
      found.push(line.bytes.toString() + (line.ended ? '\n' : ''))
    }
    closeSync(descriptor)
    t.ok(found.join('') === text)
    t.equal(found.length, lines.at(-1) === '' ? lines.length - 1 : lines.length)
  }
})

t.test('the frames of a log and its damage are the same in blocks as one by one, whatever stands in it', async (t) => {
  const path = `${t.testdir()}/events.jsonl`
  const lines = Array.from({ length: 4000 }, (_, index) => {
    const seq = index + 1
    if (index % 700 === 3) return record(seq, ['TEXT', 'é'.repeat(index * 100)])
    if (index % 500 === 5) return `${record(seq, ['TEXT', 'glued']).trimEnd()}${record(seq, ['TEXT', 'to it'])}`
    if (index % 400 === 7) return '\0\0\0\n'
    if (index % 300 === 9) return record(seq, ['TEXT', 'half']).slice(20)
    if (index % 30 === 1) return record(seq, ['TOOL_RESULT', 'c1', 'Bash', 'x\n'.repeat(1000), 'own', 'value'])
    if (index % 20 === 2) return record(seq, ['TOOL_CALL', 'Bash', 'c1', '{"command":"ls"}', 'command', 'ls'])
    return record(seq, ['TEXT', `piece ${index}`])
  })
  for (const end of ['', '{"v":1,"seq":9,"ts":"2026', record(9, ['TEXT', 'without its LF']).trimEnd()]) {
    writeFileSync(path, lines.join('') + end)
    const starts = [0, Buffer.byteLength(lines.slice(0, 1234).join(''))]
    for (const start of starts) {
      const told: string[][] = [[], []]
      const tell = (which: number) => (where: string, damage: string) => told[which]?.push(`${where}: ${damage}`)
      const inBlocks = collect(frameBytes(path, tell(0), start))
      const single = Buffer.concat(Array.from(readLog(path, tell(1), { start }), ({ frame }) => Buffer.from(frame.bytes)))
      t.ok(inBlocks.equals(single))
      t.same(told[0], told[1])
    }
  }
})

function collect(pieces: Iterable<Buffer>): Buffer {
  const copies: Buffer[] = []
  for (const piece of pieces) copies.push(Buffer.from(piece))
  return Buffer.concat(copies)
}
