import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, root, shell } from '@agentpipe/testing'
import t from 'tap'
import { filesOf, newcomer } from './support/newcomer.js'
import { leftovers } from './support/processes.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms)].map(([, block]) => block as string)

t.test('the two commands are targets of the Makefile', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8')
  for (const [, target] of readme.matchAll(/(?:^|`)make (\w+)/gm)) t.match(makefile, new RegExp(`^${target}:`, 'm'))
})

t.test('the stage in ten lines is the file that it says', (t) => {
  t.ok(blocks.includes(readFileSync(join(root, 'scripts/examples/count.bash'), 'utf8')))
  t.end()
})

t.test('the picture is a part of what the demo shows', async (t) => {
  const [, picture = 'none'] = /^```console\n(.*?)^```$/ms.exec(readme) ?? []
  const drawn = await shell('resp-render --color never --width 100 <"$1"', [fixture('demo', 'in.resp')])
  t.match(drawn.stdout.toString(), picture)
})

/** Blocks that are no commands for a shell as they stand: a file, targets of make, and the line that needs a key. */
const isRun = (block: string) => !/^(#!|make |mkfifo )/.test(block)

for (const block of blocks.filter(isRun)) {
  const [first = ''] = block.split('\n')
  t.test(`README: ${first}`, async (t) => {
    const workspace = newcomer(t)
    const env = { ...workspace.environment, PATH: `${workspace.path('stand-ins')}:${root}/dist/bin:${process.env.PATH}` }
    const files = filesOf(workspace)
    const ended = await shell(`set -eo pipefail\n${block}`, [], { cwd: workspace.directory, env, timeout: 120_000 })
    t.equal(ended.status, 0, ended.stderr)
    t.notMatch(ended.stderr, /\b(not found|internal error|no such)\b/i)
    t.same(filesOf(workspace), files, 'it leaves no file behind')
    t.same(await leftovers(workspace), [])
  })
}

t.test('README: the whole agent, with a model in place of a key', async (t) => {
  const workspace = newcomer(t)
  const line = (blocks.find((block) => block.startsWith('mkfifo ')) as string).replace('agent-loop', 'agent-loop --from fixtures/tour/in.resp')
  const ended = await shell(`set -eo pipefail\n${line}`, [], { cwd: workspace.directory, env: workspace.environment, timeout: 120_000 })
  t.match(ended, { status: 0, stderr: '' })
  t.match(ended.stdout.toString(), 'six times seven is 42')
  t.notOk(existsSync(workspace.path('back')))
})

t.test('without a key or a recording it says what to do', async (t) => {
  const workspace = newcomer(t)
  const ended = await shell('agentpipe "fix the failing test"', [], { cwd: workspace.directory, env: workspace.environment })
  t.match(ended, { status: 78, stderr: /ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY.*--from FILE/ })
})
