import t from 'tap'
import { printable } from '../src/index.js'

t.test('what acts on a terminal, or shows nothing, is escaped', async (t) => {
  for (const [text, shown] of [
    ['plain é漢😀', 'plain é漢😀'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\x1b[2J\x07\x00', '\\x1b[2J\\x07\\x00'],
    ['\x7f\x9b2J\x9d0;x\x9c', '\\x7f\\x9b2J\\x9d0;x\\x9c'],
    ['\u202ea\u2066b\u061c', '\\u202ea\\u2066b\\u061c'],
    ['\u200b\ufeff\u00ad', '\\u200b\\ufeff\\xad'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800x', '\\ud800x'],
  ] as const) {
    t.equal(printable(text), shown)
  }
})
