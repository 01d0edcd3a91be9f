import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { frames, root, run } from '@agentpipe/testing'
import t from 'tap'
import { SharedRunner } from './support/live-runner.js'
import { Place, resultsOf } from './support/tools.js'

function tree(place: Place, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(place.workspace, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
}

const FILES = {
  '.gitignore': '*.log\nnode_modules/\n',
  '.github/ci.yml': 'needle\n',
  '.git/config': 'needle\n',
  'a.ts': 'needle\n',
  'b.log': 'needle\n',
  'node_modules/x/a.ts': 'needle\n',
  'src/a.ts': 'one\nneedle 1\nthree\n',
  'src/deep/b.ts': 'needle\n',
  'src/deep/b.test.ts': 'needle\n',
}

const shared = new Place(t)
tree(shared, FILES)
const runner = new SharedRunner(t, shared)

t.test('Glob: names, directories, ignore files', async (t) => {
  const cases: [object, string][] = [
    [{ pattern: '*.ts' }, 'a.ts src/a.ts src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: '**/*.ts' }, 'a.ts src/a.ts src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: 'src/*.ts' }, 'src/a.ts'],
    [{ pattern: 'src/**/*.ts' }, 'src/a.ts src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: 'src/**/b.*' }, 'src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: '*.{yml,test.ts}' }, '.github/ci.yml src/deep/b.test.ts'],
    [{ pattern: '*.ts', path: 'src/deep' }, 'src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: '*/deep/*.ts' }, 'src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: join(shared.workspace, 'src/*.ts') }, 'src/a.ts'],
    [{ pattern: '**' }, '.github/ci.yml .gitignore a.ts src/a.ts src/deep/b.test.ts src/deep/b.ts'],
    [{ pattern: '*.log' }, '[no files match]'],
    [{ pattern: 'nowhere/*.ts' }, '[no files match]'],
    [{ pattern: '--help' }, '[no files match]'],
  ]
  const results = await runner.call(cases.map(([input]) => ['Glob', input]))
  for (const [index, [input, files]] of cases.entries()) {
    const { status, output } = results[index] ?? { status: '', output: '' }
    t.same({ status, output: output.startsWith('[') ? output : output.split('\n').join(' ') }, { status: 'ok', output: files }, JSON.stringify(input))
  }
  const wrong = await runner.call([
    ['Glob', { pattern: '*', path: 'nowhere' }],
    ['Glob', { pattern: '*', path: 'a.ts' }],
    ['Glob', { pattern: '{a' }],
  ])
  t.match(wrong, [
    { status: 'error', output: /^nowhere: no such/ },
    { status: 'error', output: /^a.ts is not a directory/ },
    { status: 'error', output: /\{a/ },
  ])
})

t.test('Grep: lines, context, files', async (t) => {
  const cases: [object, string][] = [
    [{ pattern: 'needle$' }, '.github/ci.yml:1:needle\na.ts:1:needle\nsrc/deep/b.test.ts:1:needle\nsrc/deep/b.ts:1:needle'],
    [{ pattern: 'needle', glob: 'src/**/*.ts' }, 'src/a.ts:2:needle 1\nsrc/deep/b.test.ts:1:needle\nsrc/deep/b.ts:1:needle'],
    [{ pattern: 'needle', path: 'src', glob: '!*.test.ts' }, 'src/a.ts:2:needle 1\nsrc/deep/b.ts:1:needle'],
    [{ pattern: 'n\\w+ \\d', context: 1 }, 'src/a.ts-1-one\nsrc/a.ts:2:needle 1\nsrc/a.ts-3-three'],
    [{ pattern: 'needle', path: 'a.ts' }, 'a.ts:1:needle'],
    [{ pattern: 'needle', glob: '*.log' }, '[no lines match]'],
    [{ pattern: 'not there' }, '[no lines match]'],
  ]
  const results = await runner.call(cases.map(([input]) => ['Grep', input]))
  for (const [index, [input, output]] of cases.entries()) t.same(results[index]?.output, output, JSON.stringify(input))
  t.match(await runner.callOne('Grep', { pattern: '(' }), { status: 'error', output: /unclosed group/ })
})

t.test('case 23: a pattern, path or glob is never an option', async (t) => {
  const place = new Place(t)
  tree(place, {
    'evil.sh': '#!/bin/sh\ntouch pwned\ncat\n',
    'f.txt': 'x --help\nhello -world\n-e\n--pre=./evil.sh\n-f/etc/passwd\n',
    '-n': 'in n: needle\n',
    '-rf/g.txt': 'in rf: needle\n',
  })
  const patterns = ['--help', '-world', '-e', '--pre=./evil.sh', '-f/etc/passwd']
  const results = await place.call([
    ...patterns.map((pattern) => ['Grep', { pattern, path: 'f.txt' }] as const),
    ['Grep', { pattern: 'needle', path: '-rf' }],
    ['Grep', { pattern: 'needle', path: '-n' }],
    ['Grep', { pattern: 'needle', glob: '-n' }],
    ['Grep', { pattern: 'hello', glob: '--pre=./evil.sh' }],
    ['Glob', { pattern: '-n' }],
    ['Glob', { pattern: '-rf/*' }],
    ['Glob', { pattern: '*.txt', path: '-rf' }],
  ])
  t.same(
    results.map(({ output }) => output),
    [
      'f.txt:1:x --help',
      'f.txt:2:hello -world',
      'f.txt:3:-e',
      'f.txt:4:--pre=./evil.sh',
      'f.txt:5:-f/etc/passwd',
      '-rf/g.txt:1:in rf: needle',
      '-n:1:in n: needle',
      '-n:1:in n: needle',
      '[no lines match]',
      '-n',
      '-rf/g.txt',
      '-rf/g.txt',
    ],
  )
  t.notOk(readdirSync(place.workspace).includes('pwned'))
})

t.test('results are bounded, and long lines cut', async (t) => {
  const place = new Place(t)
  tree(place, {
    'many.txt': 'needle\n'.repeat(10_000),
    'wide.txt': `wide ${'x'.repeat(100_000)}\n`,
    ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d/${i}.md`, ''])),
  })
  const [many, wide, files] = await place.call(
    [
      ['Grep', { pattern: 'needle' }],
      ['Grep', { pattern: 'wide' }],
      ['Glob', { pattern: '*.md' }],
    ],
    ['--max-output', '2k'],
  )
  t.match(many?.output, /^many.txt:1:needle\n(many.txt:\d+:needle\n)+\[and more: narrow the search\]$/)
  t.ok(many && many.output.length < 2100)
  t.ok(wide && wide.output.length > 900 && wide.output.length < 1200)
  t.match(files?.output, /^d\/0\.md\n(d\/\d+\.md\n)+\[and more: narrow the pattern\]$/)
})

t.test('ripgrep: the one in PATH, else ours', async (t) => {
  const place = new Place(t)
  tree(place, FILES)
  mkdirSync(join(place.outside, 'bin'))
  writeFileSync(join(place.outside, 'bin', 'rg'), '#!/bin/sh\necho "mine:1:$*"\n', { mode: 0o755 })
  writeFileSync(join(place.workspace, 'rg'), '#!/bin/sh\necho evil\n', { mode: 0o755 })
  const grep = frames(['TOOL_CALL', 'Grep', 'c1', '{"pattern":"needle 1"}'])
  const path = `${root}/dist/bin:${process.env.PATH}`
  const theirs = await place.run(grep, [], { PATH: `${join(place.outside, 'bin')}:${path}` })
  t.match(resultsOf(theirs.stdout)[0]?.output, /^mine:1:--no-config .*--regexp=needle 1 -- \.\/$/)
  const workspaceFirst = await place.run(grep, [], { PATH: `.::${path}` })
  t.match(resultsOf(workspaceFirst.stdout)[0]?.output, 'src/a.ts:2:needle 1')
})

t.test('Grep in what is no file: it does not wait', async (t) => {
  await run('sh', ['-c', 'mkfifo fifo; ln -s /dev/zero zero'], { cwd: shared.workspace })
  const results = await runner.call([
    ['Grep', { pattern: 'x', path: 'fifo' }],
    ['Grep', { pattern: 'x', path: 'zero' }],
    ['Glob', { pattern: '*', path: 'fifo' }],
  ])
  t.match(results, [
    { status: 'error', output: /^fifo is a named pipe/ },
    { status: 'error', output: /^zero is a character device/ },
    { status: 'error', output: /^fifo is a named pipe/ },
  ])
})
