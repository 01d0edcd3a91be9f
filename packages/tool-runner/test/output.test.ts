import fc from 'fast-check'
import t from 'tap'
import { CarriageReturns } from '../src/carriage-returns.js'
import { HeadAndTail } from '../src/head-and-tail.js'
import { WholeCharacters } from '../src/utf8.js'

function shown(...chunks: readonly (string | Buffer)[]): string {
  const output: Buffer[] = []
  const terminal = new CarriageReturns((chunk) => output.push(Buffer.from(chunk)))
  for (const chunk of chunks) terminal.push(Buffer.from(chunk))
  terminal.end()
  return Buffer.concat(output).toString()
}

t.test('carriage returns', (t) => {
  const cases: [string, string][] = [
    ['abc\rX', 'Xbc'],
    ['abc\r\ndef\r\n', 'abc\ndef\n'],
    ['abc\r\r\ndef', 'abc\ndef'],
    ['50%\r', '50%'],
    ['\r\n', '\n'],
    ['long line\r\x1b[Kok\n', 'ok\n'],
    ['long line\r\x1b[2Kok\n', 'ok\n'],
    ['\x1b[32m 50%\x1b[0m\r\x1b[32m100%\x1b[0m\n', '\x1b[32m100%\x1b[0m\n'],
    ['漢é😀\rX\n', 'Xé😀\n'],
    ['no return \b here\n', 'no return \b here\n'],
    ['a\n\rb\rc\nd', 'a\nc\nd'],
  ]
  for (const [input, output] of cases) {
    t.equal(shown(input), output, JSON.stringify(input))
    t.equal(
      shown(
        ...Buffer.from(input)
          .toString('latin1')
          .split('')
          .map((byte) => Buffer.from(byte, 'latin1')),
      ),
      output,
      `${JSON.stringify(input)} byte by byte`,
    )
  }
  t.equal(shown('spin |\b/\rS\n'), 'Spin /\n')
  t.end()
})

t.test('a bar that redraws itself for ever takes no memory, and a line without end passes', (t) => {
  t.equal(shown(...Array.from({ length: 20_000 }, (_, step) => `\r${String(step).padStart(8)} of many`)), '   19999 of many')
  const long = 'x'.repeat(1_000_000)
  t.equal(shown(long, '\n', 'ab\rc\n'), `${long}\ncb\n`)
  t.end()
})

t.test('what has no carriage return passes as it is, however it is cut', (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      const clean = chunks.map((chunk) => Buffer.from(chunk.filter((byte) => byte !== 0x0d)))
      const output: Buffer[] = []
      const terminal = new CarriageReturns((chunk) => output.push(Buffer.from(chunk)))
      for (const chunk of clean) terminal.push(chunk)
      terminal.end()
      return Buffer.concat(output).equals(Buffer.concat(clean))
    }),
  )
  t.end()
})

t.test('head and tail: nothing is lost that is not counted', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 30 })), fc.integer({ min: 2, max: 200 }), (texts, limit) => {
      const kept = new HeadAndTail(limit)
      for (const text of texts) kept.write(Buffer.from(text))
      const whole = texts.join('')
      const [head = '', leftOut = '', tail = ''] = kept
        .text((count) => `\0${count}\0`)
        .toString()
        .split('\0')
      if (kept.leftOut === 0) return head === whole
      // The line break before the mark belongs to the mark, unless the head ended in one.
      const before = whole.startsWith(head) ? head : head.slice(0, -1)
      const after = tail.slice(1)
      return (
        whole.startsWith(before) &&
        whole.endsWith(after) &&
        Buffer.byteLength(before + after) + Number(leftOut) === Buffer.byteLength(whole) &&
        Buffer.byteLength(before + after) <= limit
      )
    }),
  )
  t.end()
})

t.test('whole characters: the same bytes, and valid text is never cut', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 5 }), (bytes, text, size) => {
      for (const input of [Buffer.from(bytes), Buffer.from(text)]) {
        const chunks: Buffer[] = []
        const whole = new WholeCharacters((chunk) => chunks.push(Buffer.from(chunk)))
        for (let at = 0; at < input.length; at += size) whole.push(input.subarray(at, at + size))
        whole.end()
        if (!Buffer.concat(chunks).equals(input)) return false
        if (input.equals(Buffer.from(text)) && !chunks.every((chunk) => Buffer.from(chunk.toString()).equals(chunk))) return false
      }
      return true
    }),
  )
  t.end()
})
