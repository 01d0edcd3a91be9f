import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { Frame } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { linesFromEnd } from '../src/lines.js'
import { frameOf, isRecorded, recordLine, recordOf } from '../src/record.js'

const BLOCK = 256 * 1024
const TIME = '2026-12-01T09:30:00.123Z'

t.test('events and HELLO are recorded', async (t) => {
  t.same(['TEXT', 'HELLO', 'ERROR', 'STOP'].map(isRecorded), [true, true, true, true])
  t.same(['USER_INPUT', 'TOOL_DEF', 'HISTORY', 'PROMPT', 'UNKNOWN', 'toString'].map(isRecorded), Array(6).fill(false))
})

t.test('a frame whose text would be too long for one string is the same after all', async (t) => {
  const controls = Buffer.alloc(23 * 1024 * 1024, 1)
  const bytes = frames(['TOOL_RESULT', 'c1', 'Bash', controls, 'own', controls, 'status', 'ok'])
  const line = recordLine(new Frame(bytes, 0, bytes.length, 0), 1, TIME)
  t.ok(line.length < 2 ** 28)
  t.match(line.slice(0, 200), /^\{"v":1,"seq":1,"ts":"2026-12-01T09:30:00\.123Z","type":"tool_result","tool_use_id":"c1","name":"Bash","content_base64":"AQEB/)
  t.ok(frameOf(recordOf(JSON.parse(line))).bytes.equals(bytes))
})

t.test('lines from the end are the lines from the start, wherever blocks meet', async (t) => {
  const path = `${t.testdir()}/lines`
  for (const text of [
    '',
    '\n',
    'a',
    'a\n',
    '\n\n',
    'a\nb',
    `${'x'.repeat(65_535)}\n`,
    `${'x'.repeat(65_536)}\ny\n\n${'z'.repeat(200_000)}\nend`,
    `${'ab\n'.repeat(60_000)}`,
    `\n${'x'.repeat(600_000)}`,
    `${'x'.repeat(300_000)}\n${'y'.repeat(BLOCK - 1)}\n${'y'.repeat(BLOCK)}\n${'z'.repeat(BLOCK + 1)}\n`,
    `a\n${'x'.repeat(BLOCK * 3)}\n\n${'é'.repeat(BLOCK)}`,
  ]) {
    writeFileSync(path, text)
    const descriptor = openSync(path, 'r')
    const lines = Array.from(linesFromEnd(descriptor, Buffer.byteLength(text)), ({ bytes, ended, start }) => ({
      bytes: Buffer.from(bytes),
      ended,
      start,
    })).reverse()
    closeSync(descriptor)
    t.equal(lines.map(({ bytes, ended }) => `${bytes}${ended ? '\n' : ''}`).join(''), readFileSync(path, 'utf8'))
    let at = 0
    for (const { start, bytes } of lines) {
      if (start !== at) t.equal(start, at)
      at += bytes.length + 1
    }
  }
})
