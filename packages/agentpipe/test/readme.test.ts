import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, root, shell } from '@agentpipe/testing'
import t from 'tap'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms)].map(([, block]) => block as string)

t.test('the two commands are targets of the Makefile', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8')
  for (const [, target] of readme.matchAll(/(?:^|`)make (\w+)/gm)) t.match(makefile, new RegExp(`^${target}:`, 'm'))
})

for (const block of blocks.filter((block) => !block.startsWith('make '))) {
  const [first = ''] = block.split('\n')
  t.test(`README: ${first}`, async (t) => {
    const workspace = newcomer(t)
    const env = {
      ...workspace.environment,
      PATH: `${workspace.path('stand-ins')}:${root}/dist/bin:${process.env.PATH}`,
      AGENTPIPE_AGENT_LOOP_PROVIDER: 'replay',
      AGENTPIPE_AGENT_LOOP_FROM: workspace.path('model.resp'),
    }
    // A session to go on with, to list and to replay.
    await shell('agentpipe --record session.resp "the first"', [], { cwd: workspace.directory, env })
    const ended = await shell(`set -eo pipefail\n${block}`, [], { cwd: workspace.directory, env, timeout: 60_000 })
    t.equal(ended.status, 0, ended.stderr)
    t.notMatch(ended.stderr, /\b(not found|internal error|no such)\b/i)
    t.same(await leftovers(workspace), [])
  })
}

/** What somebody has who tries the README: a project of their own in a git repository, and our scripts and fixtures at hand. */
function newcomer(t: { teardown(work: () => void): void }): Workspace {
  const workspace = new Workspace(t, capture(bash('echo tried'), { text: 'Tried.' }))
  cpSync(fixture('sample-project'), workspace.directory, { recursive: true })
  for (const name of ['scripts', 'fixtures']) symlinkSync(join(root, name), workspace.path(name))
  mkdirSync(workspace.path('stand-ins'))
  writeFileSync(workspace.path('stand-ins/ssh'), '#!/bin/sh\n# Another machine, which is this one.\nshift\nexec sh -c "$*"\n')
  chmodSync(workspace.path('stand-ins/ssh'), 0o755)
  writeFileSync(workspace.path('stand-ins/git'), '#!/bin/sh\nprintf "%s\\n" "+a" "-b"\n')
  chmodSync(workspace.path('stand-ins/git'), 0o755)
  return workspace
}
