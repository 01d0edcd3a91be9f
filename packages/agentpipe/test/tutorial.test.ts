import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, shell } from '@agentpipe/testing'
import t from 'tap'
import { filesOf, newcomer } from './support/newcomer.js'
import { leftovers } from './support/processes.js'

const page = readFileSync(join(root, 'TUTORIAL.md'), 'utf8')
const blocks = (language: string) => [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block as string)

t.test('the stages of the tutorial are the files that it says', async (t) => {
  t.same(
    [...blocks('bash'), ...blocks('python')],
    [...page.matchAll(/^## \w+: ([\w.]+)/gm)].map(([, name]) => readFileSync(join(root, 'scripts/examples', name as string), 'utf8')),
  )
})

t.test('the commands of the tutorial, from top to bottom', async (t) => {
  const workspace = newcomer(t)
  const said = []
  for (const block of blocks('sh')) {
    const files = filesOf(workspace)
    const ended = await shell(`set -e\n${block}`, [], { cwd: workspace.directory, env: workspace.environment, timeout: 120_000 })
    t.equal(ended.status, 0, `${block}\n${ended.stderr}`)
    t.notMatch(ended.stderr, /\b(not found|internal error|no such|Traceback)\b/i)
    t.same(filesOf(workspace), files, 'it leaves no file behind')
    said.push(`${ended.stdout}${ended.stderr}`)
  }
  const [, loud, calls, dice, conform] = said
  t.match(loud, 'COMPUTED ON YOUR MACHINE')
  t.match(calls, 'Bash: 1')
  t.match(dice, /Dice\n.*[1-6]\n\nYou have thrown it/)
  t.match(conform, /1 of 12 points are not kept\nas frames.sh says.*it keeps the contract/s)
  t.same(await leftovers(workspace), [])
})

t.test('a mawk is told not to read ahead, however slowly it says that it is one', async (t) => {
  const workspace = newcomer(t)
  const awk = workspace.path('stand-ins/awk')
  writeFileSync(awk, '#!/bin/sh\nif [ "$2" = version ]; then echo mawk 1; sleep 0.2; exec echo more; fi\necho "$1 $2" >&2\nexec cat\n')
  chmodSync(awk, 0o755)
  const { stderr } = await shell('PATH=$PWD/stand-ins:$PATH scripts/examples/calls.bash', [], { cwd: workspace.directory, env: workspace.environment })
  t.equal(stderr, '-W interactive\n')
})
