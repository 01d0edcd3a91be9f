import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, root, run } from '@agentpipe/testing'
import t from 'tap'
import { inside } from './support/agent.js'
import { Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

t.test('make.sh writes the capture as it is', async (t) => {
  t.same((await run(fixture('demo/make.sh'))).stdout, readFileSync(fixture('demo/in.resp')))
})

t.test('the demo shows a test that fails, and passes when the agent has been there', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const ended = await run(join(root, 'scripts/demo'), [], inside(workspace))
  t.match(ended, { status: 0, stderr: '' })
  t.match(ended.stdout.toString(), /fail 1\n.*fix the failing test.*Bash {2}npm test.*Edit {2}src\/sum\.js.*total \+ price.*fail 0\n/s)
  t.notMatch(ended.stdout.toString(), '\x1b', 'no escape sequence in a log')
  t.same(readdirSync(workspace.directory), ['model.resp'], 'nothing is left behind, and nothing written to the state of the user')
  t.same(await leftovers(workspace), [])
})

t.test('the demo at a terminal', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const ended = await run('script', ['-qefc', join(root, 'scripts/demo'), '/dev/null'], inside(workspace))
  t.equal(ended.status, 0)
  t.match(ended.stdout.toString(), '\x1b[1m', 'headings stand out')
  t.match(ended.stdout.toString(), 'Fixed. That was')
  t.same(readdirSync(workspace.directory), ['model.resp'])
})

t.test('the demo from a directory with blanks and quotes in its name, and one in which the test cannot fail', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const clone = workspace.path("it's a clone")
  mkdirSync(clone)
  for (const name of ['scripts', 'fixtures', 'dist']) cpSync(join(root, name), join(clone, name), { recursive: true, verbatimSymlinks: true })
  t.match(await run('script', ['-qefc', 'exec scripts/demo', '/dev/null'], inside(workspace, { cwd: clone })), { status: 0 })
  rmSync(join(clone, 'fixtures/sample-project/test'), { recursive: true })
  t.match(await run(join(clone, 'scripts/demo'), [], inside(workspace)), { status: 1, stderr: 'demo: the test was to fail here, and passes\n' })
})
