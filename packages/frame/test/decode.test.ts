import t from 'tap'
import { DEFAULT_LIMITS, encodeFrame, Frame, FrameDecoder } from '../src/index.js'
import { chunkings, decode, octets, pieces } from './support/chunkings.js'

/** Frames that a reader is likely to cut in the wrong place. */
const UGLY: [what: string, bytes: string][] = [
  ['one field', '*1\r\n$3\r\nEND\r\n'],
  ['an empty field', '*2\r\n$4\r\nTEXT\r\n$0\r\n\r\n'],
  ['only empty fields', '*4\r\n$1\r\nX\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n'],
  ['characters of two, three and four bytes', '*2\r\n$4\r\nTEXT\r\n$9\r\n\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80\r\n'],
  ['CRLF in a field', '*2\r\n$4\r\nTEXT\r\n$4\r\nx\r\ny\r\n'],
  ['a field of CRLFs', '*2\r\n$4\r\nTEXT\r\n$6\r\n\r\n\r\n\r\n\r\n'],
  ['a frame in a field', '*2\r\n$4\r\nTEXT\r\n$13\r\n*1\r\n$3\r\nEND\r\n\r\n'],
  ['octets that are no text', '*2\r\n$4\r\nTEXT\r\n$6\r\n\x00\xff\xfe\xc0\xaf\x80\r\n'],
  ['a length of two digits', '*2\r\n$4\r\nTEXT\r\n$12\r\nhello, world\r\n'],
  ['eleven fields', `*11\r\n$1\r\nX\r\n${'$1\r\na\r\n'.repeat(10)}`],
]

for (const [what, text] of UGLY) {
  t.test(`${what}, in every chunking`, async (t) => {
    const frame = octets(text)
    const after = octets('*1\r\n$3\r\nEND\r\n')
    for (const [name, chunks] of chunkings(Buffer.concat([frame, after]))) {
      const { frames, error } = decode(chunks)
      if (error || frames.length !== 2 || !frames[0]?.equals(frame) || !frames[1]?.equals(after)) t.fail(name, { frames, error })
    }
    const [first] = decode([frame]).frames
    const fields = new Frame(first as Buffer, 0, frame.length, 0).fields()
    t.ok(encodeFrame(fields).equals(frame), 'and its fields make the same bytes')
  })
}

t.test('no input at all', async (t) => {
  t.same(decode([]), { frames: [], error: undefined })
  t.same(decode([Buffer.alloc(0), Buffer.alloc(0)]), { frames: [], error: undefined })
})

t.test('a frame is given as soon as its last byte is there, not later', async (t) => {
  const decoder = new FrameDecoder()
  const frame = octets('*2\r\n$4\r\nTEXT\r\n$2\r\nhi\r\n')
  let given = 0
  for (const [index, byte] of frame.entries()) {
    decoder.push(Buffer.from([byte]), () => given++)
    t.equal(given, index === frame.length - 1 ? 1 : 0)
  }
  t.equal(decoder.offset, frame.length)
  t.equal(decoder.pending, 0)
})

t.test('frames know where they stand in the stream', async (t) => {
  const bytes = Buffer.concat([encodeFrame(['TEXT', 'one']), encodeFrame(['TEXT', '']), encodeFrame(['END'])])
  const offsets: number[] = []
  for (const size of [1, 5, 1000]) {
    const decoder = new FrameDecoder()
    for (const chunk of pieces(bytes, size)) decoder.push(chunk, (frame) => offsets.push(frame.offset))
  }
  t.same(offsets, [0, 23, 43, 0, 23, 43, 0, 23, 43])
})

t.test('a frame of a whole chunk is a view of it: nothing is copied', async (t) => {
  const bytes = encodeFrame(['TEXT', 'hello'])
  new FrameDecoder().push(bytes, (frame) => {
    t.equal(frame.source, bytes)
    t.equal(frame.bytes.buffer, bytes.buffer)
  })
})

t.test('a plain Uint8Array does as well', async (t) => {
  const bytes = new Uint8Array(encodeFrame(['TEXT', 'hello']))
  t.equal(decode([bytes]).frames.length, 1)
})

t.test('as many fields as there may be', async (t) => {
  const bytes = encodeFrame(['MANY', ...Array<string>(DEFAULT_LIMITS.fields - 1).fill('x')])
  for (const size of [1, 3, 4096]) t.equal(decode(pieces(bytes, size)).frames.length, 1)
})

t.test('after an error it takes no more input', async (t) => {
  const decoder = new FrameDecoder()
  t.throws(() => decoder.push(octets('x'), () => {}), { name: 'FrameError', offset: 0 })
  t.throws(() => decoder.push(encodeFrame(['END']), () => t.fail('no frame')), { name: 'FrameError', offset: 0 })
  t.throws(() => decoder.end(), { name: 'FrameError', offset: 0 })
})
