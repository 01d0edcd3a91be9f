import fs, { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { frames, shell } from '@agentpipe/testing'
import t from 'tap'
import { readAll, readInput } from '../src/index.js'
import { line } from './support/stage.js'

/** Everything that readInput gives of a file, in order. */
function read(path: string, onChunk: (bytes: Buffer, input: ReturnType<typeof readInput>) => void = () => {}): Promise<Buffer> {
  const descriptor = openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    const input = readInput(descriptor, {
      chunk(bytes) {
        chunks.push(bytes)
        onChunk(bytes, input)
      },
      end: () => resolve(Buffer.concat(chunks)),
      error: reject,
    })
  })
}

t.test('a file, and one that is read slowly', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251))
  const path = join(t.testdir({ file: bytes, empty: '' }), 'file')
  t.ok((await read(path)).equals(bytes))
  t.ok(
    (
      await read(path, (_, input) => {
        input.pause()
        setTimeout(() => input.resume(), 5)
      })
    ).equals(bytes),
  )
  t.equal((await read(join(path, '..', 'empty'))).length, 0)
  await t.rejects(read(join(path, '..')), { code: 'EISDIR' })
})

t.test('a FIFO that is opened before anybody writes', async (t) => {
  const directory = t.testdir()
  const path = join(directory, 'fifo')
  await shell('mkfifo fifo', [], { cwd: directory })
  const reading = read(path)
  t.equal((await shell('printf one >fifo', [], { cwd: directory })).status, 0)
  t.equal((await reading).toString(), 'one')
})

t.test('a FIFO as stdin whose writer has left before we look', async (t) => {
  const cwd = t.testdir({ frames: frames(['TEXT', 'one']) })
  await shell('mkfifo fifo', [], { cwd })
  for (let count = 0; count < 5; count++) {
    t.match(await line('(cat frames >fifo &); %passes <fifo', { cwd, timeout: 120_000 }), { status: 0, stdout: frames(['TEXT', 'one']) })
    t.match(await line('(: >fifo &); %passes <fifo', { cwd, timeout: 120_000 }), { status: 0, stdout: Buffer.alloc(0) })
  }
  const slow = await line('({ cat frames; sleep 0.5; cat frames; } >fifo &); %passes <fifo', { cwd, timeout: 120_000 })
  t.match(slow, { status: 0, stdout: frames(['TEXT', 'one'], ['TEXT', 'one']) }, 'one that stays is read to its end')
})

t.test('nothing comes after stop', async (t) => {
  const path = join(t.testdir({ file: Buffer.alloc(300_000) }), 'file')
  let chunks = 0
  read(path, (_, input) => {
    chunks++
    input.stop()
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(chunks, 1)
})

t.test('readAll: all, or at least the first bytes', async (t) => {
  const path = join(t.testdir({ file: Buffer.alloc(300_000, 'x') }), 'file')
  const descriptor = openSync(path, 'r')
  t.equal(readAll(descriptor, 100_000).length, 131_072)
  t.equal(readAll(descriptor).length, 300_000 - 131_072)
  closeSync(descriptor)
})

t.test('a terminal as input', async (t) => {
  const python = `import pty,os,sys
frame=${JSON.stringify(frames(['TEXT', 'typed']).toString())}
pid,fd=pty.fork()
if pid==0:
  os.execvp('bash',['bash','-c','stty raw -echo; echo ready >&2; '+sys.argv[1]+' | cat >out'])
while b'ready' not in os.read(fd,1000): pass
os.write(fd,frame.encode())
os.close(fd) if False else None
import time
for _ in range(100):
  time.sleep(.05)
  if os.path.exists('out') and os.path.getsize('out')==len(frame): break
os.kill(pid,9)`
  const cwd = t.testdir({ 'terminal.py': python })
  await line(`python3 terminal.py "%passes"; cat out`, { cwd }).then(({ stdout }) => t.same(stdout, frames(['TEXT', 'typed'])))
})
