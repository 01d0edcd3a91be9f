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

t.test('--help fits a terminal, and names what the man page explains', async (t) => {
  const store = new Store(t)
  const verbs = ['list', 'replay', 'history', 'follow', 'search', 'export', 'fork', 'stats', 'verify', 'prune', 'rm', 'path']
  for (const args of [[], ...verbs.map((verb) => [verb])]) {
    const { status, stdout } = await store.run([...args, '--help'])
    const help = stdout.toString()
    t.equal(status, 0)
    t.ok(help.split('\n').length <= 25, args.join())
    t.same(
      help.split('\n').filter((line) => line.length > 80),
      [],
    )
    for (const [option] of help.matchAll(/--[a-z-]+/g)) t.ok(manual.includes(`\`${option}`), option)
  }
})
