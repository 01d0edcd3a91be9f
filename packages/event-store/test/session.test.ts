import { mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Frame } from '@agentpipe/frame'
import { parseOptions } from '@agentpipe/stage'
import { fieldsOf, frames, framesOf } from '@agentpipe/testing'
import t from 'tap'
import { recorder } from '../src/recorder.js'
import { openRecording } from '../src/recording.js'
import { Store, textLine } from './support/store.js'

const TEXT = frames(['TEXT', 'x'])

type Given = Parameters<NonNullable<typeof recorder.stage>>[0]

/** The session that a stream with this first event belongs to, opened as the executable opens it, and closed again. */
function opened(store: Store, first: readonly string[], session?: string, directory = store.path('work')): void {
  const before = process.cwd()
  process.chdir(directory)
  try {
    const [frame] = framesOf(frames(first))
    const dir = store.path('state', 'agentpipe')
    openRecording({ session, continue: false, fsync: 'never', dir, 'path-file': undefined }, frame as Frame, () => {}).close()
  } finally {
    process.chdir(before)
  }
}

t.test('the id is that of --session, else of HELLO, else made up', async (t) => {
  const store = new Store(t)
  await store.run(['--session', 'given'], { input: frames(['HELLO', '1', 'from-hello'], ['TEXT', 'x']) })
  await store.run([], { input: frames(['HELLO', '1', 'from-hello'], ['TEXT', 'x']) })
  await store.run([], { input: TEXT })
  await store.run([], { input: frames(['HELLO', '1', ''], ['TEXT', 'x']) })
  const [first, second, ...rest] = store.sessions().sort()
  t.match(first, /^\d{8}-\d{6}-[0-9a-f]{6}$/)
  t.match(second, /^\d{8}-\d{6}-[0-9a-f]{6}$/)
  t.same(rest, ['from-hello', 'given'])
  t.equal((await store.records('given')).length, 2)
})

t.test('an id from a frame never leads out of the state directory', async (t) => {
  const store = new Store(t)
  for (const id of ['../../evil', '..', '.', '.hidden', 'a/b', '/etc/x', 'a\0b', 'a b', 'é', 'latest', 'x'.repeat(129), 'a\nb']) {
    t.throws(() => opened(store, ['HELLO', '1', id]), { status: 65, message: /^HELLO: expected a session id / }, JSON.stringify(id))
    t.throws(
      () => recorder.stage?.(parseOptions('event-store', recorder.options, ['--session', id]) as Given),
      { status: 64, message: /^--session: expected/ },
      JSON.stringify(id),
    )
  }
  const ended = await store.run([], { input: frames(['USER_INPUT', 'passes'], ['HELLO', '1', '../../evil'], ['TEXT', 'does not']) })
  t.match(ended, { status: 65, stderr: /^event-store: HELLO: expected a session id [^\n]*\n$/ })
  const [before, error, ...more] = fieldsOf(ended.stdout)
  t.same(before, ['USER_INPUT', 'passes'])
  t.match(error, ['ERROR', /session id/, 'code', 'not_recorded', 'source', 'event-store'])
  t.same(more, [])
  t.match(await store.run(['--session', 'a\nb']), { status: 64, stderr: /^event-store: --session: [^\n]*\n$/ })
  t.same(store.sessions(), [])
  t.same(readdirSync(store.directory), ['work'])
  t.doesNotThrow(() => opened(store, ['HELLO', '1', `A.b_c-${'9'.repeat(122)}`]), '128 characters are allowed')
})

t.test('a project is the real path of the working directory; HELLO says which', async (t) => {
  const store = new Store(t)
  symlinkSync('work', store.path('link'))
  mkdirSync(store.path('a b'))
  mkdirSync(store.path('a-b'))
  const projectOf = async (id: string) => basename(dirname(dirname(await store.log(id))))
  await store.run(['--session', 'one'], { input: TEXT })
  opened(store, ['TEXT', 'x'], 'two', store.path('link'))
  await store.run(['--session', 'three'], { input: frames(['HELLO', '1', 'x', 'cwd', store.path('link')]), cwd: '/' })
  opened(store, ['TEXT', 'x'], 'four', store.path('a b'))
  opened(store, ['TEXT', 'x'], 'five', store.path('a-b'))
  opened(store, ['HELLO', '1', 'x', 'cwd', '/nowhere/../é\0'], 'six')
  opened(store, ['HELLO', '1', 'x', 'cwd', 'relative'], 'seven')
  const work = await projectOf('one')
  t.match(work, /^[\w.-]+-work-[0-9a-f]{10}$/)
  t.equal(await projectOf('two'), work)
  t.equal(await projectOf('three'), work)
  t.equal(await projectOf('seven'), work)
  t.not(await projectOf('four'), await projectOf('five'), 'names that read alike are kept apart')
  t.match(await projectOf('six'), /^nowhere-\.\.-[0-9a-f]{10}$/)
})

t.test('--dir takes the place of the state directory', async (t) => {
  const store = new Store(t)
  await store.run(['--dir', '../elsewhere', '--session', 's'], { input: TEXT })
  t.same(readdirSync(store.path('elsewhere')), ['projects'])
  t.same(store.sessions(), [])
  t.match(await store.read(['path', 's', '--dir', store.path('elsewhere')]), { status: 0 })
  t.match(await store.read(['path', 's']), { status: 66 })
  t.match(await store.read(['path', 's'], { env: { AGENTPIPE_EVENT_STORE_DIR: '../elsewhere' } }), { status: 0 })
})

t.test('--continue takes the session with the latest event, whatever the files say', async (t) => {
  const store = new Store(t)
  const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`
  const old = await store.write('old', textLine(1, 'x', at(9)) + textLine(2, 'x', at(1)))
  await store.write('newest', textLine(1, 'x', at(3)))
  const torn = await store.write('torn', textLine(1, 'x', at(2)) + textLine(2, 'x', at(9)).slice(0, 60))
  const ahead = await store.write('ahead', textLine(1, 'x', '2999-01-01T00:00:00.000Z'))
  await store.write('empty', '')
  await store.write('garbage', '\0\0\0\n{}\n')
  for (const path of [old, torn, ahead]) utimesSync(path, new Date(), new Date())
  const other = store.path('other')
  mkdirSync(other)
  await store.record('elsewhere', TEXT, other)
  t.equal(await store.log('latest'), await store.log('newest'))
  const listed = (await store.read(['list', '--json'])).stdout.toString()
  t.same(
    listed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
    ['newest', 'torn', 'old', 'ahead', 'empty', 'garbage'],
  )
  await store.run(['--continue'], { input: frames(['HELLO', '1', 'another'], ['TEXT', 'more']) })
  t.same(
    (await store.records('newest')).map(({ seq, type }) => [seq, type]),
    [
      [1, 'text'],
      [2, 'hello'],
      [3, 'text'],
    ],
  )
})

t.test('--continue where there is none begins one; it goes with no --session', async (t) => {
  const store = new Store(t)
  t.equal((await store.run(['--continue'], { input: frames(['HELLO', '1', 'first']) })).status, 0)
  t.same(store.sessions(), ['first'])
  t.match(await store.run(['--continue', '--session', 'x']), { status: 64, stderr: /exclude/ })
})
