// Megabytes a second that are decoded from chunks of 64 KiB, beside redis-parser, which reads the same bytes as replies of a Redis server.
import { createRequire } from 'node:module'
import { encodeFrame, FrameDecoder } from '../packages/frame/build/src/index.js'
import { median, printTable } from './table.mjs'

const RedisParser = createRequire(import.meta.url)('redis-parser')
const CHUNK = 64 * 1024
const ROUNDS = 5

const inputs = {
  'frames of 50 bytes': Buffer.concat(Array(400_000).fill(encodeFrame(['TEXT', 'a few words of an answer, no more']))),
  'fields of 65 kB': Buffer.concat(Array(10).fill(encodeFrame(['TEXT', ...Array(50).fill(Buffer.alloc(65_000, 'x'))]))),
  'a field of 64 MiB': encodeFrame(['TEXT', Buffer.alloc(64 * 1024 * 1024, 'x')]),
}

const rows = Object.entries(inputs).map(([title, bytes]) => [title, rate(bytes, withDecoder), rate(bytes, withRedisParser)])
printTable(`Decoder, MB/s, chunks of 64 KiB, median of ${ROUNDS}`, [['', 'FrameDecoder', 'redis-parser'], ...rows])

function rate(bytes, decode) {
  const rates = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint()
    if (decode(bytes) === 0) throw new Error('no frame was decoded')
    return bytes.length / 1e6 / (Number(process.hrtime.bigint() - start) / 1e9)
  })
  return median(rates).toFixed(0)
}

function withDecoder(bytes) {
  let frames = 0
  const decoder = new FrameDecoder()
  for (let at = 0; at < bytes.length; at += CHUNK) decoder.push(bytes.subarray(at, at + CHUNK), () => frames++)
  decoder.end()
  return frames
}

function withRedisParser(bytes) {
  let frames = 0
  const parser = new RedisParser({ returnReply: () => frames++, returnError: () => {}, returnBuffers: true })
  for (let at = 0; at < bytes.length; at += CHUNK) parser.execute(bytes.subarray(at, at + CHUNK))
  return frames
}
