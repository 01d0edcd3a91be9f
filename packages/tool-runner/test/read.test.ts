import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { shell } from '@agentpipe/testing'
import t from 'tap'
import { SharedRunner } from './support/live-runner.js'
import { Place } from './support/tools.js'

const shared = new Place(t)
const runner = new SharedRunner(t, shared)

t.test('lines with their numbers, in parts', async (t) => {
  const path = (name: string) => join(shared.workspace, name)
  writeFileSync(path('f'), 'one\ntwo\n\nfour')
  const results = await runner.call([
    ['Read', { path: 'f' }],
    ['Read', { path: 'f', offset: 2, limit: 2 }],
    ['Read', { path: 'f', offset: 4 }],
    ['Read', { path: 'f', offset: 5 }],
    ['Read', { path: 'f', offset: 0, limit: 1 }],
    ['Read', { path: path('f'), limit: 4 }],
  ])
  t.same(
    results.map(({ output }) => output),
    [
      '     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n[no newline at the end of the file]',
      '     2\ttwo\n     3\t\n[lines 2 to 3 of 4; go on with offset 4]',
      '     4\tfour\n[lines 4 to 4 of 4]\n[no newline at the end of the file]',
      'f has 4 lines: there is no line 5',
      '     1\tone\n[lines 1 to 1 of 4; go on with offset 2]',
      '     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n[no newline at the end of the file]',
    ],
  )
  t.match(results[3], { status: 'error' })
})

t.test('what is no text, or no file, is said at once', async (t) => {
  const path = (name: string) => join(shared.workspace, name)
  mkdirSync(path('dir'))
  writeFileSync(path('empty'), '')
  writeFileSync(path('binary'), Buffer.from('\x7fELF\0\0\x01'))
  writeFileSync(path('latin'), Buffer.from('caf\xe9\n', 'latin1'))
  writeFileSync(path('crlf'), '\ufeffa\r\nb\r\n')
  writeFileSync(path('mixed'), 'a\r\nb\n')
  await shell('mkfifo "$1"; truncate -s 5G "$2"', [path('fifo'), path('huge')])
  const server = createServer().listen(path('socket'))
  t.teardown(() => server.close())
  const cases: [string, RegExp | string, string?][] = [
    ['dir', /^dir is a directory/, 'error'],
    ['empty', '[the file is empty]'],
    ['binary', /a binary file of 7 bytes/, 'error'],
    ['huge', /a binary file of 5368709120 bytes/, 'error'],
    ['latin', '     1\tcaf\ufffd\n[not all of it is UTF-8: other bytes are shown as U+FFFD]'],
    ['crlf', '     1\ta\n     2\tb\n[line ends: CRLF]'],
    ['mixed', '     1\ta\n     2\tb\n[line ends: some CRLF, some LF]'],
    ['fifo', /^fifo is a named pipe/, 'error'],
    ['socket', /^socket is a socket/, 'error'],
    ['/dev/zero', /^\/dev\/zero is a character device/, 'error'],
    ['/dev/stdin', /^\/dev\/stdin is a /, 'error'],
    ['/proc/self/stat', /^ {5}1\t\d+ \(/],
    ['nothing', 'nothing: no such file or directory', 'error'],
    ['empty/x', /^empty\/x: not a directory/, 'error'],
  ]
  const results = await runner.call(cases.map(([name]) => ['Read', { path: name }]))
  for (const [index, [name, output, status = 'ok']] of cases.entries()) t.match(results[index], { output, status }, name)
})

t.test('a file that is longer than the model may get', async (t) => {
  const place = new Place(t)
  const path = (name: string) => join(place.workspace, name)
  writeFileSync(path('long'), Array.from({ length: 100_000 }, (_, index) => `line ${index + 1}\n`).join(''))
  writeFileSync(path('line'), `漢${'é'.repeat(100_000)}\nend\n`)
  writeFileSync(path('larger'), `${'x'.repeat(99)}\n`.repeat(200_000))
  const [long, line, larger, far] = await place.call(
    [
      ['Read', { path: 'long' }],
      ['Read', { path: 'line' }],
      ['Read', { path: 'larger' }],
      ['Read', { path: 'larger', offset: 199_999 }],
    ],
    ['--max-output', '1000'],
  )
  const [, last, next] = /\n\[lines 1 to (\d+) of 100000; go on with offset (\d+)\]$/.exec(long?.output ?? '') ?? []
  t.equal(Number(next), Number(last) + 1)
  t.match(long?.output, `${last}\tline ${last}\n[`)
  t.ok(long && long.output.length < 1100)
  t.match(line?.output, /^ {5}1\t漢é+\n\[line 1 is too long: the last \d+ bytes of it are left out\]\n\[lines 1 to 1 of 2; go on with offset 2\]$/)
  t.match(larger?.output, /\n\[lines 1 to 9; go on with offset 10\]$/)
  t.match(far?.output, /^199999\tx+\n200000\tx+\n\[lines 199999 to 200000 of 200000\]$/)
})
