import t from 'tap'
import { EventLength } from '../src/event-length.js'

/** What is counted when `body` comes in `pieces`. */
function counted(...pieces: readonly string[]): number {
  const length = new EventLength()
  for (const piece of pieces) length.add(Buffer.from(piece))
  return length.bytes
}

t.test('the bytes since the last blank line, and at most those of that line, wherever the body is cut', (t) => {
  for (const end of ['\n', '\r\n']) {
    const body = `event: a${end}data: 1${end}${end}data: 2${end}: 3`
    const last = `data: 2${end}: 3`.length
    const faults: string[] = []
    for (let first = 0; first <= body.length; first++) {
      for (let second = first; second <= body.length; second++) {
        const pieces = [body.slice(0, first), body.slice(first, second), body.slice(second)]
        const found = counted(...pieces)
        if (found < last || found > last + 3) faults.push(`${JSON.stringify(pieces)}: ${found}`)
      }
    }
    t.same(faults, [])
    const found = counted(...body)
    t.ok(found >= last && found <= last + 3, 'byte by byte')
  }
  t.equal(counted('data: x\n', 'data: y\n'), 16)
  t.end()
})
