import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frames } from '@agentpipe/testing'
import t from 'tap'
import { LiveRunner, SharedRunner } from './support/live-runner.js'
import { Place, type Result, resultsOf } from './support/tools.js'

const shared = new Place(t)
const runner = new SharedRunner(t, shared)
let files = 0

/** Edits a new file with some content, and gives the result and what is in the file then. */
async function edit(content: string | Buffer, input: { old_string: string; new_string: string; replace_all?: boolean }) {
  const name = `f${++files}`
  const path = join(shared.workspace, name)
  writeFileSync(path, content)
  const result = await runner.callOne('Edit', { path: name, ...input })
  return { ...result, name, content: readFileSync(path) } as Result & { content: Buffer }
}

t.test('case 19: the replacement is taken byte for byte', async (t) => {
  const newString = "$& $$ $` $' $1 $<n> \\1 & \\n"
  for (const replaceAll of [false, true]) {
    const { content, status, output } = await edit('log("done"); é\n', { old_string: 'done', new_string: newString, replace_all: replaceAll })
    t.equal(content.toString(), `log("${newString}"); é\n`)
    t.match({ status, output }, { status: 'ok', output: /^edited f\d+: 1 place$/ })
  }
})

t.test('cases 20 and 21: line ends, the last newline, BOM and odd bytes stay, backslashes too', async (t) => {
  const cases: [string, string | Buffer, string, string, string | Buffer][] = [
    ['CRLF', 'a = 1;\r\nb = 2;\r\n', 'a = 1;\nb = 2;', 'a = 1;\nb = 3;\nc = 4;', 'a = 1;\r\nb = 3;\r\nc = 4;\r\n'],
    ['CRLF, within a line', 'a\r\nb\r\n', 'a', 'x\ny', 'x\r\ny\r\nb\r\n'],
    ['CRLF, lines taken out', 'a\r\nb\r\nc\r\n', 'a\nb\n', 'a\n', 'a\r\nc\r\n'],
    ['mixed, one line touched', 'a\r\nb\nc\r\n', 'a\nb\nc', 'a\nX\nc', 'a\r\nX\nc\r\n'],
    ['mixed, a line added after an LF', 'a\r\nb\nc\r\n', 'b\n', 'b\nX\n', 'a\r\nb\nX\nc\r\n'],
    ['a CR that is meant', 'a\r\nb\r\n', 'a\r\nb', 'a\nb', 'a\nb\r\n'],
    ['a lone CR', 'a\rb\r\nc', 'c', 'd\ne', 'a\rb\r\nd\r\ne'],
    ['no last newline', 'x\ny', 'y', 'z', 'x\nz'],
    ['a last newline', 'x\ny\n', 'y', 'z', 'x\nz\n'],
    ['BOM', '\ufeffa\n', 'a', 'b', '\ufeffb\n'],
    ['not UTF-8', Buffer.from('e9206f6c64ff00', 'hex'), 'old', 'new', Buffer.from('e9206e6577ff00', 'hex')],
    ['backslashes', 'a \\\n b', 'a \\\n', 'C:\\new\\table \\t\n', 'C:\\new\\table \\t\n b'],
  ]
  for (const [name, before, oldString, newString, after] of cases) {
    const { content, status } = await edit(before, { old_string: oldString, new_string: newString })
    t.equal(status, 'ok', name)
    t.same(content, Buffer.from(after), name)
  }
})

t.test('old_string must be there exactly once', async (t) => {
  const wrong: [string, string, string, RegExp][] = [
    ['aaa', 'aa', 'b', /there 2 times/],
    ['ababa aba', 'aba', 'b', /there 3 times/],
    ['abc', 'x', 'b', /not in the file/],
    ['a  b', 'a b', 'c', /not in the file/],
    ['abc', '', 'b', /old_string is empty/],
    ['abc', 'b', 'b', /the same/],
  ]
  for (const [before, oldString, newString, problem] of wrong) {
    const { content, status, output } = await edit(before, { old_string: oldString, new_string: newString })
    t.match({ status, output }, { status: 'error', output: problem })
    t.equal(content.toString(), before)
  }
  const all = await edit('a.a\r\na', { old_string: 'a', new_string: '$&\n', replace_all: true })
  t.equal(all.content.toString(), '$&\r\n.$&\r\n\r\n$&\r\n')
  t.match(all, { output: /^edited f\d+: 3 places$/ })
})

t.test('an edit comes with a unified diff', async (t) => {
  const { diff, summary, name } = await edit('one\ntwo\nthree', { old_string: 'two', new_string: '2\n2' })
  t.equal(diff, `--- a/${name}\n+++ b/${name}\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2\n three\n\\ No newline at end of file\n`)
  t.equal(summary, '+2 -1')
  const made = await runner.callOne('Write', { path: 'new', content: 'x\n' })
  t.match(made, { output: 'made new: 2 bytes', diff: '--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+x\n' })
})

t.test('case 21: Write writes what it is given, and nothing else changes', async (t) => {
  const place = new Place(t)
  const content = 'print("a\\nb")\nC:\\new\\table \\\\ \\t\n#define X \\\n  1\n\r\n\ufeff é漢😀 no end'
  const path = (name: string) => join(place.workspace, name)
  writeFileSync(path('run.sh'), 'old and longer than the new one'.repeat(100))
  chmodSync(path('run.sh'), 0o751)
  linkSync(path('run.sh'), path('hard'))
  symlinkSync('run.sh', path('soft'))
  const results = await place.call([
    ['Write', { path: 'soft', content }],
    ['Write', { path: 'a/b/c', content }],
    ['Write', { path: 'empty', content: '' }],
    ['Write', { path: '.', content: '' }],
    ['Write', { path: '/dev/null', content: '' }],
    ['Write', { path: 'run.sh/x', content: '' }],
  ])
  t.match(
    results.map(({ status }) => status),
    ['ok', 'ok', 'ok', 'error', 'denied', 'error'],
  )
  for (const name of ['run.sh', 'hard', 'a/b/c']) t.equal(readFileSync(path(name), 'utf8'), content, name)
  t.equal(statSync(path('run.sh')).mode & 0o777, 0o751)
  t.ok(lstatSync(path('soft')).isSymbolicLink())
  t.equal(readFileSync(path('empty')).length, 0)
})

t.test('case 26: what has changed since it was read is not overwritten', async (t) => {
  const place = new Place(t)
  const path = (name: string) => join(place.workspace, name)
  for (const name of ['f', 'g']) writeFileSync(path(name), 'old\n')
  const runner = new LiveRunner(t, place)
  for (const name of ['f', 'g']) runner.call('Read', `read-${name}`, { path: name })
  await Promise.all([runner.result('read-f'), runner.result('read-g')])
  writeFileSync(path('f'), 'old\nnew\n')
  utimesSync(path('g'), 1, 1)
  runner.call('Write', 'stale', { path: `${place.workspace}/f`, content: 'mine\n' })
  t.match(await runner.result('stale'), { status: 'error', output: /^.*f has changed since it was read.*\n +1\told\n +2\tnew\n$/ })
  t.equal(readFileSync(path('f'), 'utf8'), 'old\nnew\n')
  runner.call('Write', 'again', { path: 'f', content: 'mine\n' })
  t.match(await runner.result('again'), { status: 'ok' }, 'now it knows')
  runner.call('Edit', 'touched', { path: 'g', old_string: 'old', new_string: 'newer' })
  runner.call('Edit', 'own', { path: 'g', old_string: 'newer', new_string: 'newest' })
  t.match(await runner.result('own'), { status: 'ok' })
  t.equal(readFileSync(path('g'), 'utf8'), 'newest\n')
  runner.endInput()
  await runner.ended
})

t.test('case 22: nothing outside is written in mode workspace', async (t) => {
  const place = new Place(t)
  const { workspace, outside, temporary } = place
  mkdirSync(`${workspace}-evil`)
  mkdirSync(join(workspace, 'sub'))
  writeFileSync(join(outside, 'f'), 'theirs')
  symlinkSync(outside, join(workspace, 'o'))
  symlinkSync(join(outside, 'new'), join(workspace, 'dangling'))
  symlinkSync('dangling', join(workspace, 'twice'))
  symlinkSync(join(outside, 'f'), join(workspace, 'f'))
  symlinkSync('loop', join(workspace, 'loop'))
  symlinkSync(workspace, join(place.top, 'link'))
  const refused = ['o/x', 'dangling', 'twice', 'f', '../ws-evil/x', 'sub/../../x', 'o/../x', join(outside, 'y'), '/proc/self/cwd/../z']
  for (const given of [[], ['--workspace', join(place.top, 'link')]]) {
    const results = await place.call(
      refused.map((path) => ['Write', { path, content: 'evil' }]),
      given,
    )
    for (const [index, path] of refused.entries()) t.match(results[index], { status: 'denied', output: /^denied by --mode workspace: / }, path)
    const allowed = await place.call(
      ['sub/ok', 'sub/../ok', join(workspace, 'ok'), join(temporary, 'ok'), 'loop'].map((path) => ['Write', { path, content: 'fine' }]),
      given,
    )
    t.match(
      allowed.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'ok', 'error'],
    )
  }
  t.match(await place.callOne('Edit', { path: 'f', old_string: 'theirs', new_string: 'evil' }), { status: 'denied' })
  t.equal(readFileSync(join(outside, 'f'), 'utf8'), 'theirs')
  t.same([readdirSync(outside), readdirSync(`${workspace}-evil`), readdirSync(place.top).sort()], [['f'], [], ['link', 'out', 'tmp', 'ws', 'ws-evil']])
  const home = await place.run(frames(['TOOL_CALL', 'Write', 'c1', '{"path":"~/never","content":"evil"}']), [], { HOME: outside })
  t.match(resultsOf(home.stdout), [{ status: 'denied', output: /^denied by --mode workspace: / }])
  t.match(await place.callOne('Write', { path: 'dangling', content: 'through' }, ['--mode', 'full']), { status: 'ok' })
  t.equal(readFileSync(join(outside, 'new'), 'utf8'), 'through')
})

t.test('mode read-only changes nothing', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'f'), 'text\n')
  const results = await place.call(
    [
      ['Write', { path: 'x', content: '' }],
      ['Edit', { path: 'f', old_string: 'text', new_string: 'x' }],
      ['Bash', { command: 'touch x' }],
      ['Read', { path: 'f' }],
      ['Glob', { pattern: '*' }],
      ['Grep', { pattern: 'text' }],
    ],
    ['--mode', 'read-only'],
  )
  for (const result of results.slice(0, 3)) t.match(result, { status: 'denied', output: /^denied by --mode read-only: / })
  t.match(
    results.slice(3).map(({ output }) => output),
    ['     1\ttext\n', 'f', 'f:1:text'],
  )
})
