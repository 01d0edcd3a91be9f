import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fixture, frames, root, run } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { Workspace } from './support/capture.js'

const install = join(root, 'scripts/install')
const names = readdirSync(join(root, 'dist/bin'))

const everything = (prefix: string) => readdirSync(prefix, { recursive: true, encoding: 'utf8' }).sort()

t.test('installed in a directory with blanks and quotes in its name', async (t) => {
  const workspace = new Workspace(t, Buffer.alloc(0))
  const { directory } = workspace
  const prefix = workspace.path("a 'pre fix'")
  const ended = await run(install, ["a 'pre fix'"], { cwd: directory })
  t.match(ended, { status: 0, stderr: '' }, 'a relative prefix')
  t.equal(
    ended.stdout.toString(),
    `installed agentpipe in ${prefix}: ${names.length} executables in bin, manual pages in share/man, example stages in share/agentpipe\n${prefix}/bin is not in your PATH: PATH=${prefix}/bin:$PATH\n`,
  )
  for (const name of names) t.equal(readlinkSync(join(prefix, 'bin', name)), `../lib/agentpipe/${name}`)
  await t.test('the executables run without the clone, node_modules or an environment, wherever they are moved to', (t) => runsMoved(t, prefix))
  await t.test('the example stages run where they are installed', (t) => examplesRun(t, prefix))

  await t.test('again gives the same; files of an older version go; a ~ that the shell has left as it is', async (t) => {
    const before = everything(prefix)
    appendFileSync(join(prefix, 'lib/agentpipe/.installed'), 'bin/agent-of-old\nlib/agentpipe/../../outside\n')
    for (const name of ['bin/agent-of-old', 'outside', 'bin/somebody-elses']) writeFileSync(join(prefix, name), '')
    t.match(await run(install, ["~/a 'pre fix'"], { env: { HOME: directory }, cwd: '/' }), { status: 0, stderr: '' })
    t.same(everything(prefix), [...before, 'bin/somebody-elses', 'outside'].sort())
  })

  await t.test('--remove takes all of it away, and nothing else', async (t) => {
    t.match(await run(install, ['--remove', prefix]), { status: 0, stdout: Buffer.from(`removed agentpipe from ${prefix}\n`) })
    t.same(everything(prefix), ['bin', 'bin/somebody-elses', 'outside'])
    t.match(await run(install, ['--remove', prefix]), { status: 0, stdout: Buffer.from(`agentpipe is not installed in ${prefix}\n`) })
  })
})

async function runsMoved(t: Test, prefix: string): Promise<void> {
  const moved = join(dirname(prefix), 'moved')
  renameSync(prefix, moved)
  const environment = ['-i', `PATH=${join(moved, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`, `HOME=${moved}/../home`]
  const project = join(dirname(prefix), 'project')
  cpSync(fixture('sample-project'), project, { recursive: true })
  // What `node --test` prints is another version's.
  const replayed = ['--provider=replay', `--from=${fixture('demo/in.resp')}`, '--on-divergence=ignore']
  const fixed = await run('env', [...environment, 'agentpipe', ...replayed, 'fix it'], { cwd: project, timeout: 120_000 })
  t.match(fixed, { status: 0, stderr: '' })
  t.match(await run('node', ['--test'], { cwd: project, env: { NODE_TEST_CONTEXT: undefined } }), { status: 0 })
  // The others have run just now.
  for (const name of ['resp', 'sub-agent', 'user-prompt']) {
    t.match(await run('env', [...environment, name, '--help'], { cwd: '/' }), { status: 0, stderr: '' }, name)
  }
  renameSync(moved, prefix)
}

async function examplesRun(t: Test, prefix: string): Promise<void> {
  const share = join(prefix, 'share/agentpipe')
  t.same(
    readdirSync(join(share, 'examples')).sort(),
    readdirSync(join(root, 'scripts/examples'))
      .filter((name) => name !== '__pycache__')
      .sort(),
  )
  t.match(await run(join(share, 'examples/count.bash'), [], { input: frames(['TOOL_CALL', 'Bash', 'c1', '{}']) }), { status: 0, stderr: 'tools called: 1\n' })
  t.match(await run('bash', ['-c', '. "$1" && frame_write END', 'bash', join(share, 'lib/frames.sh')]), { status: 0, stdout: frames(['END']) })
}

t.test('what somebody else put there is not overwritten', async (t) => {
  const prefix = new Workspace(t, Buffer.alloc(0)).path('prefix')
  mkdirSync(join(prefix, 'bin'), { recursive: true })
  writeFileSync(join(prefix, 'bin/resp'), 'theirs')
  t.match(await run(install, [prefix]), { status: 73, stderr: `install: ${prefix}/bin/resp is there and is not ours: remove it, or choose another PREFIX\n` })
  t.same(everything(prefix), ['bin', 'bin/resp'])
})

t.test('no prefix; one that cannot be written; somebody’s whose home is not known', async (t) => {
  t.match(await run(install, []), { status: 64 })
  t.match(await run(install, ['/dev/null/x']), { status: 73 })
  t.match(await run(install, ['~somebody/x'], { cwd: t.testdir() }), { status: 64, stderr: /^install: write ~somebody\/x out: [^\n]*\n$/ })
})

t.test('make install into any name', async (t) => {
  const prefix = new Workspace(t, Buffer.alloc(0)).path('a"b\'c`d$(e)')
  const make = (target: string) =>
    run('make', [target, `PREFIX=${prefix.replaceAll('$', '$$$$')}`], { cwd: root, env: { MAKEFLAGS: undefined, MAKELEVEL: undefined }, timeout: 200_000 })
  t.match(await make('install'), { status: 0, stderr: '' })
  t.ok(existsSync(join(prefix, 'bin/resp')))
  t.match(await make('uninstall'), { status: 0, stderr: '' })
  t.notOk(existsSync(join(prefix, 'bin')))
})
