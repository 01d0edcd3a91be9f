import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames, run, shell } from '@agentpipe/testing'
import t from 'tap'

t.test('a capture, and what is appended to it, once it is whole: case 14', async (t) => {
  const cwd = t.testdir({ capture: frames(['TEXT', 'one two']), more: frames(['TEXT', ' three'], ['STOP', 'max_turns']), out: '' })
  const shown = (text: string) => `until grep -q ${text} out; do sleep .05; done`
  const { stdout, stderr } = await shell(
    `resp-render --follow capture </dev/null >out & ${shown('one')}; head -c 20 more >>capture; sleep .1; cat out; echo ...
    tail -c +21 more >>capture; ${shown('Stopped')}; kill -INT $!; wait $!; echo $?; cat out`,
    [],
    { cwd },
  )
  const whole = 'one two three\n\n■ Stopped: the limit of turns was reached\n'
  t.equal(stdout.toString(), `one...\n0\n${whole}`)
  t.equal(stderr, '')
})

t.test('what can not be followed', async (t) => {
  const cwd = t.testdir({ capture: Buffer.concat([frames(['TEXT', 'one two']), Buffer.from('junk')]), folder: {} })
  const follow = (...args: readonly string[]) => run('resp-render', ['--follow', ...args], { cwd })
  t.match(await follow('capture'), { status: 65, stdout: Buffer.from('one two\n'), stderr: 'resp-render: expected "*" at byte 27, found "junk"\n' })
  t.match(await follow('nix'), { status: 66, stderr: 'resp-render: cannot read nix: no such file or directory\n' })
  t.match(await follow('folder'), { status: 66, stderr: 'resp-render: cannot follow folder: it is no file\n' })
  t.match(await follow('capture', '--tty'), { status: 64 })
  writeFileSync(join(cwd, 'capture'), frames(['TEXT', 'one two']))
  const { stderr } = await shell('resp-render --follow capture >out & until [ -s out ]; do sleep .05; done; : >capture; wait $!; echo $? >&2', [], { cwd })
  t.equal(stderr, 'resp-render: capture got shorter than what was shown of it\n66\n')
})
