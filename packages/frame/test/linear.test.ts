import t from 'tap'
import { encodeFrame, FrameDecoder } from '../src/index.js'

const CHUNK = 64 * 1024
const MIB = 1024 * 1024

/** How many bytes the decoder copies for a frame that comes in chunks, over the bytes that the frame has. */
function copiesPerByte(bytes: Buffer, chunkSize = CHUNK): number {
  const { copy } = Buffer.prototype
  let copied = 0
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
    const count = copy.apply(this, args)
    copied += count
    return count
  }
  let frames = 0
  try {
    const decoder = new FrameDecoder()
    for (let at = 0; at < bytes.length; at += chunkSize) decoder.push(bytes.subarray(at, at + chunkSize), () => frames++)
    decoder.end()
  } finally {
    Buffer.prototype.copy = copy
  }
  t.ok(frames > 0)
  return copied / bytes.length
}

t.test('one field of any size is copied once', async (t) => {
  for (const size of [1, 16, 64]) {
    const ratio = copiesPerByte(encodeFrame(['TEXT', Buffer.alloc(size * MIB, 'x')]))
    t.ok(ratio <= 1.1, `${size} MiB: ${ratio}`)
  }
})

t.test('a frame of many 65 kB fields is copied a few times at the most', async (t) => {
  const field = Buffer.alloc(65_000, 'x')
  for (const count of [50, 200, 1000]) {
    const ratio = copiesPerByte(encodeFrame(['MANY', ...Array<Buffer>(count).fill(field)]))
    t.ok(ratio <= 3, `${count} fields: ${ratio}`)
  }
})

t.test('so is a frame of many short fields, byte by byte', async (t) => {
  const ratio = copiesPerByte(encodeFrame(['MANY', ...Array<string>(1000).fill('abc')]), 1)
  t.ok(ratio <= 3, `${ratio}`)
})

t.test('of many short frames only those that a chunk cuts are copied', async (t) => {
  const ratio = copiesPerByte(Buffer.concat(Array<Buffer>(100_000).fill(encodeFrame(['TEXT', 'hello']))))
  t.ok(ratio < 0.01, `${ratio}`)
})
