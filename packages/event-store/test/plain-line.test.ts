import { Frame } from '@agentpipe/frame'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { PlainLines } from '../src/plain-line.js'
import { frameOf, recordLine, recordOf } from '../src/record.js'

const TEXTS = ['', 'x', 'a few words', 'é漢😀', 'a "quoted"\\ \n\r\t\b\f/ text', 'x'.repeat(100_000), '\0', '\u2028', '\x7f', 'tail\\', '","text":"', '}']

t.test('the frame of a line of text is the one that parsing gives, whatever the text holds', async (t) => {
  const plain = new PlainLines()
  let found = 0
  for (const type of ['TEXT', 'THINKING', 'USER_MESSAGE', 'STOP', 'RETRY']) {
    for (const text of TEXTS) {
      const bytes = frames(type === 'RETRY' ? [type, 'reason', text] : [type, text])
      const line = Buffer.from(recordLine(new Frame(bytes, 0, bytes.length, 0), 7, '2026-12-01T09:30:00.123Z').trimEnd())
      const entry = plain.entryIn(line)
      if (entry === undefined) continue
      found++
      const parsed = recordOf(JSON.parse(line.toString()))
      t.ok(entry.frame.bytes.equals(frameOf(parsed).bytes), `${type} ${text.slice(0, 40)}`)
      t.same([entry.record.seq, entry.record.time, entry.record.type, entry.record.members], [parsed.seq, parsed.time, parsed.type, parsed.members])
    }
  }
  t.ok(found > 20)
})

t.test('a line that is not just that is left to the parser', async (t) => {
  const plain = new PlainLines()
  const line = (end: string, time = '2026-12-01T09:30:00.000Z') => Buffer.from(`{"v":1,"seq":1,"ts":"${time}","type":"text","text":"${end}`, 'latin1')
  t.ok(plain.entryIn(line('x"}')))
  for (const end of ['x', 'x"', 'x"} ', 'x","y":"z"}', 'x\\"}', 'x\\q"}', 'x\\u0041"}', '\xff"}', 'x\0"}', 'x\n"}', '"', '}'])
    t.equal(plain.entryIn(line(end)), undefined, JSON.stringify(end))
  for (const time of ['2026-12-01T09:30:00.00Z0', 'xxxx-12-01T09:30:00.000Z', '']) t.equal(plain.entryIn(line('x"}', time)), undefined, time)
  t.equal(plain.entryIn(Buffer.from('{"v":1,"seq":,"ts"')), undefined)
  t.equal(plain.entryIn(Buffer.alloc(0)), undefined)
  const whole = line('a text"}')
  for (let cut = 0; cut < whole.length; cut++) t.equal(plain.entryIn(whole.subarray(0, cut)), undefined)
})
