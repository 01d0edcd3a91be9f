import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_LIMITS, encodeFrame, type FieldValue, FrameDecoder } from '../src/index.js'
import { decode, octets, pieces } from './support/chunkings.js'

interface RedisParser {
  execute(chunk: Buffer): void
}
type RedisParserOptions = { returnReply(reply: Buffer[]): void; returnError(error: Error): void; returnBuffers: boolean }
const RedisParser = createRequire(import.meta.url)('redis-parser') as new (options: RedisParserOptions) => RedisParser

const type = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,11}$/)
const field = fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.string({ unit: 'binary' }), fc.constantFrom('', '\r\n', '$5\r\n', '*1\r\n', '\0'))
const fields = fc.tuple(type, fc.array(field, { maxLength: 20 })).map(([type, rest]): FieldValue[] => [type, ...rest])

t.test('bytes of known frames', async (t) => {
  t.same(encodeFrame(['END']), octets('*1\r\n$3\r\nEND\r\n'))
  t.same(encodeFrame(['TEXT', 'é漢😀']), octets('*2\r\n$4\r\nTEXT\r\n$9\r\n\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80\r\n'))
  t.same(encodeFrame(['TEXT', '', Buffer.from([0, 0xff])]), octets('*3\r\n$4\r\nTEXT\r\n$0\r\n\r\n$2\r\n\x00\xff\r\n'))
  t.same(encodeFrame([Buffer.from('END')]), octets('*1\r\n$3\r\nEND\r\n'))
})

t.test('any fields come back as they were, in any chunks', async () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 5 }), fc.integer({ min: 1, max: 64 }), (list, size) => {
      const bytes = list.map((fields) => encodeFrame(fields))
      const decoded = decode(pieces(Buffer.concat(bytes), size))
      return (
        decoded.error === undefined && decoded.frames.length === bytes.length && decoded.frames.every((frame, index) => frame.equals(bytes[index] as Buffer))
      )
    }),
  )
})

t.test('each field comes back as it was', async () => {
  fc.assert(
    fc.property(fields, (given) => {
      let same = false
      new FrameDecoder().push(encodeFrame(given), (frame) => {
        same = frame.count === given.length && given.every((value, index) => frame.field(index)?.equals(Buffer.from(value as string)))
      })
      return same
    }),
  )
})

t.test('a Redis client reads the same fields', async () => {
  fc.assert(
    fc.property(fields, (given) => {
      const replies: Buffer[][] = []
      const parser = new RedisParser({ returnReply: (reply) => void replies.push(reply), returnError: () => {}, returnBuffers: true })
      parser.execute(encodeFrame(given))
      const [reply] = replies
      return replies.length === 1 && reply?.length === given.length && given.every((value, index) => reply[index]?.equals(Buffer.from(value as string)))
    }),
  )
})

t.test('half of a surrogate pair becomes U+FFFD, and the length is right', async (t) => {
  t.same(encodeFrame(['TEXT', 'a\ud83d']), octets('*2\r\n$4\r\nTEXT\r\n$4\r\na\xef\xbf\xbd\r\n'))
})

t.test('what a reader would refuse is not written', async (t) => {
  for (const wrong of ['', 'text', 'Text', '1X', '_X', 'A B', 'A-B', 'É', 'A\n', Buffer.from([0x41, 0xff])]) t.throws(() => encodeFrame([wrong]), RangeError)
  t.throws(() => encodeFrame([]), RangeError)
  t.throws(() => encodeFrame(['X', ...Array<string>(DEFAULT_LIMITS.fields).fill('')]), /1025 fields .* limit of 1024/)
  t.doesNotThrow(() => encodeFrame(['X', ...Array<string>(DEFAULT_LIMITS.fields - 1).fill('')]))
  const field = Buffer.alloc(DEFAULT_LIMITS.fieldBytes)
  t.throws(() => encodeFrame(['X', Buffer.alloc(DEFAULT_LIMITS.fieldBytes + 1)]), /67108865 bytes .* limit of 67108864/)
  t.throws(() => encodeFrame(['X', field, field]), /limit of 134217728/)
  t.throws(() => encodeFrame(['X', 'abc'], { fields: 2, fieldBytes: 2, frameBytes: 100 }), RangeError)
  t.doesNotThrow(() => encodeFrame(['X', 'é'], { fields: 2, fieldBytes: 2, frameBytes: 100 }))
})

t.test('what just fits is read by who has the same limits', async (t) => {
  const limits = { fields: 3, fieldBytes: 10, frameBytes: 37 }
  const frame = encodeFrame(['ABCDE', '12345', '12345'], limits)
  t.equal(decode([frame], limits).error, undefined)
  t.throws(() => encodeFrame(['ABCDE', '12345', '123456'], limits), RangeError)
})
