import fc from 'fast-check'
import t from 'tap'
import { Utf8 } from '../src/utf8.js'

t.test('pieces as UTF-8, whatever they are cut at', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(300)), (text, cuts) => {
      const out = new Utf8()
      const places = [0, ...cuts.filter((at) => at < text.length).sort((a, b) => a - b), text.length]
      for (const [index, at] of places.entries()) out.append(text.slice(at, places[index + 1]))
      return out.take().equals(Buffer.from(text)) && out.take().length === 0
    }),
  )
})

t.test('half of a pair is what becomes of it elsewhere; a large piece leaves nothing behind', async (t) => {
  const out = new Utf8()
  for (const piece of ['a\ud83d', 'b', '\ude00', 'c\ud83d']) out.append(piece)
  t.same(out.take(), Buffer.from('a\ufffdb\ufffdc\ufffd'))
  const large = '漢'.repeat(1_000_000)
  out.append(large)
  t.equal(out.take().toString(), large)
  out.append('a')
  t.equal(out.take().toString(), 'a')
})
