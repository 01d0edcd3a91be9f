import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, frames, run, shell } from '@agentpipe/testing'
import t from 'tap'

const dump = async (input: Uint8Array, ...args: string[]) => (await run('resp', ['dump', ...args], { input })).stdout.toString()

t.test('a field a line: name, length in bytes, text', async (t) => {
  const input = frames(
    ['TOOL_RESULT', 'c1', 'Bash', 'é\r\n', 'status', 'ok', 'own', ''],
    ['TEXT', ''],
    ['TEXT', 'x', 'odd'],
    ['MY_OWN', 'a', 'b', 'c'],
    ['HISTORY', 'TEXT', 'hi', 'there'],
    ['TOOL_CALL', 'Bash'],
    ['END'],
  )
  t.equal(
    await dump(input),
    [
      ...['TOOL_RESULT', '  id[2] c1', '  name[4] Bash', '  output[4] é\\r\\n', '  + status[2] ok', '  + own[0]'],
      ...['TEXT', '  text[0]', 'TEXT', '  text[1] x', '  2[3] odd'],
      ...['MY_OWN', '  1[1] a', '  2[1] b', '  3[1] c', 'HISTORY', '  event[4] TEXT', '  2[2] hi', '  3[5] there'],
      ...['TOOL_CALL', '  name[4] Bash', 'END', ''],
    ].join('\n'),
  )
})

t.test('nothing in it acts on a terminal, in any field, key or type', async (t) => {
  const hostile = 'A\x1b]52;c;cm0=\x07B\x9b2J\x7f\u202eC\u2028\u200b\u061c\u{e0041}\ud800'
  const text = await dump(
    frames(['TEXT', hostile, hostile, hostile], ['MY_OWN', hostile, Buffer.from(hostile, 'latin1'), Buffer.from([0xff, 0x1b, 0x5c, 0x41])]),
  )
  t.notMatch(text, /[^\n\P{Cc}]|\p{Cf}|\p{Zl}|\p{Zp}/u)
  t.match(text, '\\x1b]52')
  t.match(text, '3[4] \\xff\\x1b\\\\A')
})

t.test('two fields that differ never look the same', async (t) => {
  const pairs = ['\n', '\\n', '\\x1b', '\x1b', ...['a', 'b'].map((end) => Buffer.from('x'.repeat(500) + end))]
  const shown = (await dump(frames(...pairs.map((value) => ['TEXT', value])))).split('TEXT\n').slice(1)
  t.equal(shown.length, pairs.length)
  for (let pair = 0; pair < shown.length; pair += 2) t.not(shown[pair], shown[pair + 1])
})

t.test('a long field is cut between characters, with a count; --full has it whole', async (t) => {
  const value = 'é漢😀'.repeat(100)
  const input = frames(['TEXT', value])
  t.match(await dump(input), /^TEXT\n {2}text\[900\] (é漢😀){44}é \.\.\. 502 more bytes, sha256 [0-9a-f]{12}\n$/)
  t.equal(await dump(input, '--full'), `TEXT\n  text[900] ${value}\n`)
})

t.test('what is damaged is printed as far as it is whole; then the damage is told, and 65', async (t) => {
  const good = frames(['TEXT', 'one'])
  for (const [bad, damage] of [
    ['hello\n', 'expected "*" at byte 23, found "hello\\n"'],
    ['*2\r\n$4\r\nTEXT\r\n$10\r\nhello', 'truncated at byte 47: the input ends inside the frame that begins at byte 23'],
  ] as const) {
    const input = Buffer.concat([good, Buffer.from(bad)])
    const ended = await run('resp', ['dump'], { input })
    t.match(ended, { status: 65, stdout: Buffer.from(`TEXT\n  text[3] one\ndamaged: ${damage}\n`), stderr: `resp: ${damage}\n` })
    t.match(await run('resp', ['dump', '--lenient'], { input }), { status: 0, stdout: ended.stdout, stderr: '' })
  }
})

t.test('FILE, and files that are not there', async (t) => {
  const path = fixture('seed-writer', 'all-types.resp')
  const { stdout } = await run('resp', ['dump', path])
  t.equal(stdout.toString(), await dump(readFileSync(path)))
  t.match(await run('resp', ['dump', '-'], { input: frames(['END']) }), { status: 0, stdout: Buffer.from('END\n') })
  t.match(await run('resp', ['dump', '/nosuch']), { status: 66, stderr: 'resp: cannot open /nosuch: no such file or directory\n' })
  t.match(await run('resp', ['dump', '/']), { status: 74, stderr: /^resp: .*directory\n$/ })
  t.match(await run('resp', ['dump', path, path]), { status: 64 })
})

t.test('git shows what changed in a capture, damaged ones too', async (t) => {
  const cwd = t.testdir()
  const git = (line: string) => shell(`git -c user.name=x -c user.email=x@example.org ${line}`, [], { cwd, env: { HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' } })
  await git('init -q')
  writeFileSync(join(cwd, '.gitattributes'), '*.resp -text diff=resp\n')
  t.equal((await git(`config diff.resp.textconv 'resp dump --lenient'`)).status, 0)
  copyFileSync(fixture('redis-client', 'commands.resp'), join(cwd, 'a.resp'))
  writeFileSync(join(cwd, 'b.resp'), frames(['TEXT', 'whole']))
  t.equal((await git('add . && git -c user.name=x -c user.email=x@example.org commit -q -m x')).status, 0)
  t.ok((await git('show HEAD:a.resp')).stdout.equals(readFileSync(fixture('redis-client', 'commands.resp'))), 'git does not touch it')

  writeFileSync(join(cwd, 'a.resp'), Buffer.concat([readFileSync(join(cwd, 'a.resp')), frames(['TEXT', 'new\r\n'])]))
  writeFileSync(join(cwd, 'b.resp'), Buffer.concat([frames(['TEXT', 'whole']), Buffer.from('*1\r\n$3\r\nEN')]))
  const diff = await git('diff')
  t.match(diff, { status: 0, stderr: '' })
  const changed = diff.stdout
    .toString()
    .split('\n')
    .filter((line) => /^[+-][^+-]/.test(line))
  t.same(changed, ['+TEXT', '+  text[5] new\\r\\n', '+damaged: truncated at byte 35: the input ends inside the frame that begins at byte 25'])
})
