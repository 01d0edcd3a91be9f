import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '@agentpipe/testing'
import t from 'tap'
import { Store } from './support/store.js'

const manual = readFileSync(join(root, 'packages/event-store/event-store.1.md'), 'utf8')

t.test('the examples of the man page run as they stand', async (t) => {
  const store = new Store(t)
  const [, examples = ''] = /^## EXAMPLES\n\n((?: {4}.*\n)+)/m.exec(manual) ?? []
  const ended = await store.shell(`set -e -o pipefail\n${examples}`)
  t.match(ended, { status: 0, stderr: '' })
  t.match(ended.stdout.toString(), /"type":"text","text":"hello"/)
})
