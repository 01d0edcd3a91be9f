import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { readLog } from '../src/log-reader.js'
import { Store, textLine } from './support/store.js'

t.test('a log that is a FIFO, a device or a directory holds nothing up', async (t) => {
  const store = new Store(t)
  await store.write('good', textLine(1, 'x'))
  for (const [id, make] of [
    ['fifo', (path: string) => execFileSync('mkfifo', [path])],
    ['zero', (path: string) => symlinkSync('/dev/zero', path)],
    ['directory', (path: string) => mkdirSync(path)],
    ['loop', (path: string) => symlinkSync('events.jsonl', path)],
  ] as const) {
    const path = await store.write(id, '')
    unlinkSync(path)
    make(path)
    if (id === 'loop') continue
    for (const verb of ['replay', 'history', 'export', 'verify', 'fork', 'stats']) {
      t.match(await store.read([verb, id]), { status: 66, stderr: /^event-store: cannot read [^\n]*: it is not a file\n$/ }, `${verb} ${id}`)
    }
  }
  const { status, stdout, stderr } = await store.read(['list'])
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.equal(
    stdout
      .toString()
      .split('\n')
      .filter((line) => /\(cannot read: it is not a file\)$/.test(line)).length,
    3,
  )
  t.match(await store.read(['path', 'latest']), { stdout: /good/ })
  t.match(await store.run(['follow', 'fifo'], { timeout: 120_000 }), { status: 66, stderr: /not a file/ })
  t.match(await store.read(['rm', 'fifo', 'zero', 'directory']), { status: 0 })
  t.match(await store.read(['list', '--json']), { stdout: /^\{"id":"good"[^\n]*\n$/ })
})

t.test('a directory of the state directory with a name that a terminal would obey', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', textLine(1, 'x'))
  const project = dirname(dirname(path))
  renameSync(project, join(dirname(project), 'a\x1b]0;title\x07\u202eb'))
  for (const args of [
    ['list', '--all'],
    ['verify', '--all'],
    ['search', 'x'],
    ['stats', '--all'],
    ['prune', '--all', '--older-than', '0s', '-n'],
  ]) {
    const { status, stdout, stderr } = await store.read(args)
    t.equal(status, 0, args.join(' '))
    t.notMatch(stdout + stderr, /[^\n\P{Cc}]|\p{Cf}/u, args.join(' '))
  }
})

t.test('a session that is a link: what it leads to is left alone', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', textLine(1, 'x'))
  const other = store.path('other')
  renameSync(dirname(path), other)
  symlinkSync(other, dirname(path))
  t.match(await store.read(['replay', 's']), { status: 0 })
  t.match(await store.read(['rm', 's']), { status: 0, stdout: Buffer.from('removed s\n') })
  t.notOk(existsSync(dirname(path)))
  t.same(readdirSync(other), ['events.jsonl'])
})

t.test('a log that is replaced, cut or removed while it is read', async (t) => {
  const store = new Store(t)
  const long = 'y'.repeat(600_000)
  const lines = Array.from({ length: 20_000 }, (_, index) => textLine(index + 1, index % 5000 === 4999 ? long : `event ${index}`))
  const path = await store.write('s', '')
  const read = (change: () => void) => {
    writeFileSync(path, lines.join(''))
    const problems: string[] = []
    let count = 0
    for (const _ of readLog(path, (where) => problems.push(where))) if (++count === 1000) change()
    return { count, problems: problems.length }
  }
  const replaced = read(() => {
    writeFileSync(`${path}.new`, textLine(1, 'another'))
    renameSync(`${path}.new`, path)
  })
  t.same(replaced, { count: 20_000, problems: 0 }, 'it was open, and is read to its end')
  t.same(
    read(() => unlinkSync(path)),
    { count: 20_000, problems: 0 },
  )
  const cut = read(() => truncateSync(path, 500_000))
  t.ok(cut.count >= 1000 && cut.count < 20_000 && cut.problems <= 1, JSON.stringify(cut))
})

t.test('a fork that cannot be written leaves nothing behind', async (t) => {
  const store = new Store(t)
  const path = await store.write('s', textLine(1, 'x'))
  const project = dirname(dirname(path))
  // A directory without a log is no session: a fork that was killed is made again.
  mkdirSync(join(project, 'half'))
  t.match(await store.read(['fork', 's', '--session', 'half']), { status: 0 })
  t.equal(readFileSync(join(project, 'half', 'events.jsonl'), 'utf8'), textLine(1, 'x'))
  const full = await store.shell('ulimit -f 0; event-store fork s --session none')
  t.match(full, { status: 73, stdout: Buffer.alloc(0), stderr: /^event-store: cannot write [^\n]*: file too large\n$/ })
  t.same(readdirSync(project).sort(), ['half', 's'])
  rmdirSync(store.path('work'))
})
