import t from 'tap'
import { isSessionId } from '../src/index.js'

t.test('what may name a session, and a directory with it', (t) => {
  for (const id of ['a', '-x', '20261203-0a', 'x'.repeat(128)]) t.ok(isSessionId(id), id)
  for (const id of ['', '../x', '.x', 'latest', 'a b', 'a/b', 'é', 'a\n', 'x'.repeat(129)]) t.notOk(isSessionId(id), id)
  t.end()
})
