import t from 'tap'
import { DEFAULT_LIMITS, encodeFrame, FrameDecoder } from '../src/index.js'
import { chunkings, decode, octets } from './support/chunkings.js'

const TEXT = '*2\r\n$4\r\nTEXT\r\n'
const TYPE = 'a type of A-Z, 0-9 and _, a letter first'

/** Input that is wrong, the first octet that can't be right, and what is expected there. */
const WRONG: [input: string, offset: number, expected: string][] = [
  ['hello\n', 0, '"*"'],
  ['\r\n', 0, '"*"'],
  ['\n', 0, '"*"'],
  ['$4\r\nTEXT\r\n', 0, '"*"'],
  ['+OK\r\n', 0, '"*"'],
  ['\x00', 0, '"*"'],
  ['*\r\n', 1, 'a digit'],
  ['*-1\r\n', 1, 'a digit'],
  ['*+1\r\n', 1, 'a digit'],
  ['* 1\r\n', 1, 'a digit'],
  ['*0\r\n', 1, 'a count of at least 1'],
  ['*01\r\n', 1, 'a number without leading zero'],
  ['*00\r\n', 1, 'a number without leading zero'],
  ['*1 \r\n', 2, 'a digit or CRLF'],
  ['*1x\r\n', 2, 'a digit or CRLF'],
  ['*1\n$3\nEND\n', 2, 'a digit or CRLF'],
  ['*1\r$3\r\n', 3, 'LF after CR'],
  ['*1\r\r\n', 3, 'LF after CR'],
  ['*1e3\r\n', 2, 'a digit or CRLF'],
  ['*0x1\r\n', 2, 'a digit or CRLF'],
  ['*1025\r\n', 1, 'at most 1024 fields in a frame'],
  ['*4294967297\r\n', 1, 'at most 1024 fields in a frame'],
  ['*99999999999999999999999999\r\n', 1, 'at most 1024 fields in a frame'],
  ['*1\r\n*1\r\n', 4, '"$"'],
  ['*1\r\n:5\r\n', 4, '"$"'],
  ['*1\r\n$\r\n', 5, 'a digit'],
  ['*1\r\n$-1\r\n', 5, 'a digit'],
  [`${TEXT}$-1\r\n`, 15, 'a digit'],
  [`${TEXT}$+5\r\nhello\r\n`, 15, 'a digit'],
  [`${TEXT}$05\r\nhello\r\n`, 15, 'a number without leading zero'],
  [`${TEXT}$00\r\n\r\n`, 15, 'a number without leading zero'],
  [`${TEXT}$5\nhello\r\n`, 16, 'a digit or CRLF'],
  [`${TEXT}$5\rhello\r\n`, 17, 'LF after CR'],
  [`${TEXT}$4\r\nhello\r\n`, 22, 'CRLF after 4-byte field'],
  [`${TEXT}$5\r\nhello\n*`, 23, 'CRLF after 5-byte field'],
  [`${TEXT}$5\r\nhello\r*`, 24, 'CRLF after 5-byte field'],
  [`${TEXT}$0\r\nx\r\n`, 18, 'CRLF after 0-byte field'],
  [`${TEXT}$4\r\n\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80\r\n`, 22, 'CRLF after 4-byte field'],
  [`${TEXT}$67108865\r\n`, 15, 'at most 67108864 bytes in a field'],
  [`${TEXT}$1000000000000\r\n`, 15, 'at most 67108864 bytes in a field'],
  ['*1\r\n$0\r\n\r\n', 8, TYPE],
  ['*1\r\n$4\r\ntext\r\n', 8, TYPE],
  ['*1\r\n$4\r\nTExT\r\n', 10, TYPE],
  ['*1\r\n$4\r\n1EXT\r\n', 8, TYPE],
  ['*1\r\n$4\r\n_EXT\r\n', 8, TYPE],
  ['*1\r\n$4\r\nTE T\r\n', 10, TYPE],
  ['*1\r\n$4\r\nTEX-\r\n', 11, TYPE],
  ['*1\r\n$2\r\n\xc3\x89\r\n', 8, TYPE],
]

const before = encodeFrame(['TEXT', 'before'])

for (const [input, offset, expected] of WRONG) {
  t.test(JSON.stringify(input), async (t) => {
    for (const [name, chunks] of chunkings(Buffer.concat([before, octets(input)]))) {
      const { frames, error } = decode(chunks)
      if (frames.length !== 1) t.fail(`${name}: the frame before the error is delivered`)
      if (error?.offset !== before.length + offset || error.expected !== expected) t.fail(`${name}: ${error?.message}`)
    }
    const { error } = decode([octets(input)])
    t.match(error, { offset, expected, message: `expected ${expected} at byte ${offset}, found ` })
    t.match(error?.found, /^"[\x20-\x7e]+"(\.\.\.)?$/, 'what was found is printable')
  })
}

t.test('what was found is escaped and short', async (t) => {
  t.equal(decode([octets('\x1b]0;title\x07"\\\xff\r\n')]).error?.found, '"\\x1b]0;title\\x07\\"\\\\\\xff\\r\\n"')
  t.equal(decode([octets('x'.repeat(1000))]).error?.found, `"${'x'.repeat(16)}"...`)
})

t.test('what is too large is refused before memory is set aside for it', async (t) => {
  const sizes: number[] = []
  const { allocUnsafeSlow, alloc, allocUnsafe } = Buffer
  t.teardown(() => Object.assign(Buffer, { allocUnsafeSlow, alloc, allocUnsafe }))
  const counting = (allocate: (size: number) => Buffer) => (size: number) => {
    sizes.push(size)
    return allocate.call(Buffer, size)
  }
  Object.assign(Buffer, { allocUnsafeSlow: counting(allocUnsafeSlow), alloc: counting(alloc), allocUnsafe: counting(allocUnsafe) })
  for (const claim of ['*1025\r\n', '*1000000000000\r\n', `${TEXT}$67108865\r\n`, `${TEXT}$1000000000000\r\n`, `${TEXT}$9007199254740993\r\n`]) {
    for (const [, chunks] of chunkings(octets(claim))) t.ok(decode(chunks).error)
  }
  t.ok(sizes.length > 0)
  t.ok(Math.max(...sizes) < 1000, `largest: ${Math.max(...sizes)}`)
})

t.test('all limits can be set', async (t) => {
  const limits = { fields: 3, fieldBytes: 5, frameBytes: 40 }
  const bytes = (fields: string[]) => encodeFrame(fields)
  t.equal(decode([bytes(['A', 'b', 'c'])], limits).error, undefined)
  t.match(decode([bytes(['A', 'b', 'c', 'd'])], limits).error, { offset: 1, expected: 'at most 3 fields in a frame' })
  t.equal(decode([bytes(['A', '12345'])], limits).error, undefined)
  t.match(decode([bytes(['A', '123456'])], limits).error, { offset: 12, expected: 'at most 5 bytes in a field' })
  const full = bytes(['ABCDE', '12345', '12345'])
  t.equal(full.length, 37)
  t.equal(decode([full], { ...limits, frameBytes: 37 }).error, undefined)
  for (const [name, chunks] of chunkings(full)) {
    const { error } = decode(chunks, { ...limits, frameBytes: 36 })
    if (error?.offset !== 26 || error.expected !== 'at most 36 bytes in a frame') t.fail(`${name}: ${error?.message}`)
  }
})

t.test('a field of just the limit', async (t) => {
  const decoder = new FrameDecoder()
  decoder.push(octets(`${TEXT}$${DEFAULT_LIMITS.fieldBytes}\r\n`), () => t.fail('too soon'))
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  for (let count = 0; count < 64; count++) decoder.push(chunk, () => t.fail('too soon'))
  let given = 0
  decoder.push(octets('\r\n'), (frame) => {
    given++
    t.equal(frame.field(1)?.length, DEFAULT_LIMITS.fieldBytes)
  })
  t.equal(given, 1)
})
