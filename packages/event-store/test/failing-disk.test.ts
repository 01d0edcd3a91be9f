import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { linesOf, Store, textLine } from './support/store.js'

/** Writes to files take a few bytes less than they are given, and from BUDGET bytes on fail, as on a file system that fills up or breaks. */
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
static long left = -1;
ssize_t write(int fd, const void *bytes, size_t length) {
  static ssize_t (*real)(int, const void *, size_t);
  struct stat file;
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return real(fd, bytes, length);
  if (left < 0) left = atol(getenv("BUDGET"));
  if (left == 0) { errno = atoi(getenv("ERRNO")); return -1; }
  if (length > 7) length -= 3;
  if ((long)length > left) length = left;
  left -= length;
  return real(fd, bytes, length);
}
int fdatasync(int fd) { if (getenv("NO_SYNC")) { errno = EIO; return -1; } (void)fd; return 0; }
int fsync(int fd) { return fdatasync(fd); }
int unlink(const char *path) {
  static int (*real)(const char *);
  if (getenv("NO_UNLINK")) { errno = EROFS; return -1; }
  if (!real) real = dlsym(RTLD_NEXT, "unlink");
  return real(path);
}
`

const TEXTS = Array.from({ length: 20 }, (_, index) => `event ${index}`)
const INPUT = frames(...TEXTS.map((text) => ['TEXT', text]))

t.test('a file system that fails, at any byte', async (t) => {
  const store = new Store(t)
  const shim = store.path('shim.so')
  const built = spawnSync('cc', ['-shared', '-fPIC', '-o', shim, '-x', 'c', '-', '-ldl'], { input: SHIM })
  if (built.status !== 0) return t.pass('skipped: there is no cc')
  const one = Buffer.byteLength(textLine(1, 'event 0'))
  const total = TEXTS.length * one
  const budgets =
    process.env.STORE_KILLS === undefined ? [0, 1, one, one + 1, total - 1, 555] : Array.from({ length: Math.ceil(total / 7) }, (_, index) => index * 7)
  for (const [index, budget] of budgets.entries()) {
    const id = `s${budget}`
    const failing = { BUDGET: String(budget), ERRNO: ['28', '5', '122'][index % 3] as string }
    const ended = await store.shell(`LD_PRELOAD=${shim} event-store --session ${id}`, [], { input: INPUT, env: failing })
    t.equal(ended.status, 74, `${budget}: ${ended.stderr}`)
    t.match(ended.stderr, /^event-store: cannot write .*: (no space left on device|i\/o error|input\/output error|disk quota exceeded)[^\n]*\n$/i)
    const passed = fieldsOf(ended.stdout)
    t.match(passed.at(-1), ['ERROR', /cannot write/, 'code', 'not_recorded'])
    t.match(await store.run(['--session', id], { input: frames(['STOP', 'end_turn']) }), { status: 0 })
    const texts = (await store.records(id)).map(({ text }) => text)
    t.same(
      texts.slice(0, -1),
      passed.slice(0, -1).map(([, text]) => text),
      `${budget}: what went on is what is there`,
    )
  }
  const readOnly = await store.shell(`LD_PRELOAD=${shim} event-store --session readonly`, [], {
    input: INPUT,
    env: { BUDGET: '100', ERRNO: '30', NO_UNLINK: '1' },
  })
  t.match(
    readOnly,
    { status: 74, stderr: /^event-store: cannot write [^\n]*read-only[^\n]*\n$/i },
    'a file system that becomes read-only: not even the lock can be removed',
  )
  const unsynced = await store.shell(`LD_PRELOAD=${shim} event-store --session sync --fsync always`, [], {
    input: INPUT,
    env: { BUDGET: '100000', ERRNO: '5', NO_SYNC: '1' },
  })
  t.match(unsynced, { status: 74, stderr: /cannot write/ })
  t.match(fieldsOf(unsynced.stdout), [['ERROR', /cannot write/]], 'nothing goes on that may not be on disk')
  for (const [when, type, status, types] of [
    ['turn', 'TEXT', 74, ['TEXT', 'ERROR']],
    ['turn', 'USER_MESSAGE', 74, ['ERROR']],
    ['never', 'STOP', 0, ['STOP']],
  ] as const) {
    const ended = await store.shell(`LD_PRELOAD=${shim} event-store --fsync ${when}`, [], {
      input: frames([type, 'x']),
      env: { BUDGET: '100000', ERRNO: '5', NO_SYNC: '1' },
    })
    t.equal(ended.status, status, `${when} ${type}`)
    t.same(
      fieldsOf(ended.stdout).map(([type]) => type),
      types,
      `${when}: what waits for the disk, and what does not`,
    )
  }
})

t.test('a tiny tmpfs that fills up, and has room again', async (t) => {
  const store = new Store(t)
  const state = store.path('tiny')
  mkdirSync(state)
  const mounted = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=64k none "$0"', state])
  if (mounted.status !== 0) return t.pass('skipped: only root may mount a tmpfs')
  writeFileSync(store.path('input'), frames(...Array.from({ length: 300 }, (_, index) => ['TEXT', `${index}:${'x'.repeat(1000)}`])))
  const { stdout, stderr } = await store.shell(
    `unshare -m bash -c '
      mount -t tmpfs -o size=64k none "$1"
      event-store --dir "$1" --session s <"$2" | resp json | wc -l; echo "status \${PIPESTATUS[0]}"
      log=$(event-store path s --dir "$1"); wc -l <"$log"; tail -c 1 "$log" | od -An -c
      mount -o remount,size=1m "$1"
      resp write STOP end_turn | event-store --dir "$1" --session s >/dev/null; echo "then $?"
      event-store verify s --dir "$1"; echo "verify $?"' sh "$1" "$2"`,
    [state, store.path('input')],
  )
  t.match(stderr, /cannot write .*no space left/)
  const [passed, status, recorded, last, then] = linesOf(stdout.toString())
  t.equal(Number(passed) - 1, Number(recorded), 'one more than is recorded went on: the ERROR')
  t.match([status, last?.trim(), then], ['status 74', '\\n', 'then 0'])
  t.match(stdout.toString(), /verify 0\n$/)
})
