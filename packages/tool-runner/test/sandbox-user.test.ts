import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames, root, run } from '@agentpipe/testing'
import t from 'tap'
import { Place, resultsOf } from './support/tools.js'

/** Nobody's. */
const USER = ['--reuid', '54321', '--regid', '54321', '--clear-groups']

const trial = spawnSync('setpriv', [...USER, 'bwrap', '--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'])
const skip = trial.status === 0 ? false : 'no other user, or no bubblewrap of another user, can be had here'

t.test('confined commands of a user who is not root', { skip }, async (t) => {
  const place = new Place(t)
  const home = join(place.top, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true })
  writeFileSync(join(home, '.ssh/id'), 'needle')
  // Where that user can read it: the repository may stand in a directory of somebody's own.
  cpSync(join(root, 'dist'), join(place.top, 'dist'), { recursive: true, verbatimSymlinks: true })
  spawnSync('sh', ['-c', 'chmod 755 "$1"; chown -R 54321:54321 "$1"', 'sh', place.top])
  const git = 'git -c user.name=a -c user.email=a@b'
  const commands = [
    'exec 2>&1; cat ~/.ssh/id; id -u; echo x >f; for f in ../home/f ../out/f; do echo x >$f; done',
    `${git} init -q . && ${git} commit -qm one --allow-empty && git log --format=%s; exit 137`,
    'kill -KILL $$',
    'grep ^CapEff /proc/self/status; ls /proc | grep -c "^[0-9]*$"; sleep 93.25 & exec 3<>/dev/tcp/127.0.0.1/9',
  ]
  const calls = frames(...commands.map((command, index) => ['TOOL_CALL', 'Bash', `c${index}`, JSON.stringify({ command })]))
  const options = { input: calls, cwd: place.workspace, env: { ...place.environment, HOME: home } }
  const { stdout, stderr } = await run('setpriv', [...USER, join(place.top, 'dist/bin/tool-runner'), '--sandbox', 'bwrap'], options)
  t.equal(stderr, '')
  const [files, commit, killed, processes] = resultsOf(stdout)
  t.match(files?.output, /^cat: .*No such file.*\n54321\n.*home\/f: Read-only file system\n.*out\/f: Read-only file system\n/)
  t.equal(readFileSync(join(place.workspace, 'f'), 'utf8'), 'x\n')
  t.match(commit, { output: 'one\n[exit status 137]', exit_code: '137' })
  t.match(killed, { signal: 'SIGKILL' })
  t.match(processes?.output, /^CapEff:\s*0+\n\d\n.*(unreachable|refused)/s)
})

t.test('a submodule and a directory below the repository: commits are made, what git obeys stays', { skip }, async (t) => {
  const place = new Place(t)
  const git = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always'
  const one = `git init -q "$1" && cd "$1" && ${git} commit -q --allow-empty -m one`
  spawnSync('sh', ['-c', `(${one}); git init -q "$2" && cd "$2" && ${git} submodule add -q "$1" libs/one`, 'sh', join(place.outside, 'lib'), place.workspace])
  const attack = 'for f in hooks/post-checkout config; do echo evil >.git/modules/libs/one/$f; done; mv .git/modules .git/m; mv .git/modules/libs .git/m'
  const commits = `cd libs/one && ${git} commit -q --allow-empty -m two && git log --format=%s && cd .. && ${git} commit -qam three && git log --format=%s`
  const config = join(place.workspace, '.git/modules/libs/one/config')
  const before = readFileSync(config, 'utf8')
  const [made] = await place.call(
    [commits, `(${attack}) 2>/dev/null; true`].map((command) => ['Bash', { command }] as const),
    ['--sandbox', 'bwrap'],
  )
  t.equal(readFileSync(config, 'utf8'), before)
  t.notOk(existsSync(join(place.workspace, '.git/modules/libs/one/hooks/post-checkout')))
  t.match(made, { status: 'ok', output: 'two\none\nthree\n' })
})
