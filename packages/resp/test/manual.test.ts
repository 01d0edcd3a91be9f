import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, shell } from '@agentpipe/testing'
import t from 'tap'

t.test('the examples of the man page run as they stand, one after the other', async (t) => {
  const [, section = ''] = readFileSync(join(root, 'packages/resp/resp.1.md'), 'utf8').split('## EXAMPLES\n')
  const examples = section.split('\n').filter((line) => line.startsWith('    '))
  t.ok(examples.length >= 5)
  const cwd = t.testdir()
  for (const example of examples) t.match(await shell(`set -o pipefail\n${example}`, [], { cwd }), { status: 0, stderr: '' }, example)
})

t.test('--version', async (t) => {
  for (const args of [['--version'], ['stat', '--version']]) t.match((await run('resp', args)).stdout.toString(), /^resp \(agentpipe\) \d+\.\d+\.\d+\n$/)
})
