import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames, root, run, shell } from '@agentpipe/testing'
import t from 'tap'

const VERBS = ['write', 'json', 'unjson', 'dump', 'grep', 'check', 'stat', 'merge']

t.test('the examples of the man page run as they stand, one after the other', async (t) => {
  const [, section = ''] = readFileSync(join(root, 'packages/resp/resp.1.md'), 'utf8').split('## EXAMPLES\n')
  const examples = section.split('\n').filter((line) => line.startsWith('    '))
  t.ok(examples.length >= 5)
  const cwd = t.testdir()
  for (const example of examples) t.match(await shell(`set -o pipefail\n${example}`, [], { cwd }), { status: 0, stderr: '' }, example)
})

t.test('those of --help run, and each page fits on a terminal', async (t) => {
  const cwd = t.testdir({ 'session.resp': frames(['TEXT', 'foo'], ['STOP', 'end_turn']) })
  await shell('git init -q', [], { cwd })
  for (const args of [[], ...VERBS.map((verb) => [verb])]) {
    const { stdout, status } = await run('resp', [...args, '--help'])
    t.equal(status, 0)
    const lines = stdout.toString().trimEnd().split('\n')
    t.ok(lines.length <= 24 && lines.every((line) => line.length <= 80), args.join(' '))
    for (const example of lines.slice(-2)) {
      // jq and the other stages need not be there.
      if (/jq|agent-loop|resp-render/.test(example)) continue
      // What is said to be bad is told on stderr.
      const stderr = example.includes('|| echo') ? /^resp: / : ''
      t.match(await shell(`set -o pipefail\n${example}`, [], { cwd }), { status: 0, stderr }, example)
    }
  }
})

t.test('--version', async (t) => {
  for (const args of [['--version'], ['stat', '--version']]) t.match((await run('resp', args)).stdout.toString(), /^resp \(agentpipe\) \d+\.\d+\.\d+\n$/)
})
