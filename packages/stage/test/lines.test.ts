import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { Lines } from '../src/index.js'

t.test('lines however they are cut; a long one comes in pieces', (t) => {
  const text = Buffer.from('ab\n\n1234\n12345\r\n123456789\nlast')
  const expected = ['ab.', '.', '1234.', '1234', '5\r.', '1234', '5678', '9.', 'last.']
  for (const pieces of everyCut(text)) {
    const given: string[] = []
    const lines = new Lines(4, (line, ended) => given.push(`${line}${ended ? '.' : ''}`))
    for (const piece of pieces) lines.push(Buffer.from(piece))
    lines.end()
    t.same(given, expected, `${pieces[0].length}`)
  }
  t.end()
})
