import t from 'tap'
import { jsonText } from '../src/index.js'

t.test('what a terminal acts on is escaped, and parses to the same', async (t) => {
  for (const character of [
    '\x7f',
    '\x80',
    '\x9b',
    '\x9f',
    '\u061c',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\x1b',
    '\n',
  ]) {
    const value = { [`key${character}`]: `a${character}b${character}` }
    const text = jsonText(value)
    t.notOk(text.includes(character), text)
    t.same(JSON.parse(text), value)
  }
})

t.test('other text stands as it is', async (t) => {
  const value = ['é漢😀👩‍👩‍👧', 'a\u00a0b', { n: 1.5, yes: true, nothing: null }]
  t.equal(jsonText(value), JSON.stringify(value))
})
