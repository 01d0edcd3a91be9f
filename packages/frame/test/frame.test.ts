import t from 'tap'
import { encodeFrame, Frame, FrameDecoder } from '../src/index.js'

/** A frame in the midst of others, as a chunk from a pipe holds it. */
function frameAmongOthers(): Frame {
  const bytes = Buffer.concat([encodeFrame(['TEXT', 'before']), encodeFrame(['TOOL_CALL', 'Bash', '', Buffer.from([0xff, 0x0d, 0x0a])]), encodeFrame(['END'])])
  const frames: Frame[] = []
  new FrameDecoder().push(bytes, (frame) => frames.push(frame))
  return frames[1] as Frame
}

t.test('type, count and fields', async (t) => {
  const frame = frameAmongOthers()
  t.equal(frame.type, 'TOOL_CALL')
  t.equal(frame.count, 4)
  t.equal(frame.text(0), 'TOOL_CALL')
  t.equal(frame.text(1), 'Bash')
  t.equal(frame.text(2), '')
  t.same(frame.field(3), Buffer.from([0xff, 0x0d, 0x0a]))
  t.equal(frame.text(3), '\ufffd\r\n', 'what is not UTF-8 is shown as such')
  t.equal(frame.fields().length, 4)
})

t.test('past the last field there is nothing', async (t) => {
  const frame = frameAmongOthers()
  for (const index of [4, 100, -1]) {
    t.equal(frame.field(index), undefined)
    t.equal(frame.text(index), undefined)
  }
})

t.test('fields and bytes are views', async (t) => {
  const frame = frameAmongOthers()
  t.equal(frame.bytes.buffer, frame.source.buffer)
  t.equal(frame.field(1)?.buffer, frame.source.buffer)
})

t.test('a copy is good when the chunk is overwritten', async (t) => {
  const frame = frameAmongOthers()
  const copy = frame.copy()
  frame.source.fill('!')
  t.equal(copy.type, 'TOOL_CALL')
  t.same(copy.field(3), Buffer.from([0xff, 0x0d, 0x0a]))
  t.equal(copy.offset, frame.offset)
  t.ok(copy instanceof Frame)
})
