import t from 'tap'
import { encodeFrame } from '../src/index.js'
import { decode, pieces } from './support/chunkings.js'

const first = encodeFrame(['TEXT', 'one'])
const second = encodeFrame(['TOOL_RESULT', 'c1', 'Bash', 'a\r\nb', 'status', 'ok'])
const bytes = Buffer.concat([first, second])

t.test('input that ends between frames is whole', async (t) => {
  t.equal(decode([bytes]).error, undefined)
  t.equal(decode([first]).error, undefined)
})

t.test('input that ends anywhere else is truncated there, whatever the chunks', async (t) => {
  for (let end = 1; end < bytes.length; end++) {
    if (end === first.length) continue
    for (const size of [1, 2, 5, 1000]) {
      const { frames, error } = decode(pieces(bytes.subarray(0, end), size))
      const begin = end < first.length ? 0 : first.length
      const message = `truncated at byte ${end}: the input ends inside the frame that begins at byte ${begin}`
      if (error?.message !== message || error.offset !== end) t.fail(`${end} bytes by ${size}: ${error?.message}`)
      if (frames.length !== (begin === 0 ? 0 : 1)) t.fail(`${end} bytes by ${size}: what was whole is delivered`)
    }
  }
  t.pass('at every offset')
})

t.test('a stump that is wrong as well is wrong, not truncated', async (t) => {
  const { error } = decode(pieces(Buffer.concat([first, Buffer.from('*2\r\n$4\r\nTEXT\r\n$5\r\nhello!')]), 1))
  t.match(error, { offset: first.length + 23, expected: 'CRLF after 5-byte field' })
})
