import fs, { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { Progress } from '../src/progress.js'

t.test('on a terminal it is shown from the second that it takes on, and cleared before something else is said', async (t) => {
  const log = join(t.testdir(), 'log')
  writeFileSync(log, 'x'.repeat(1000))
  const { writeSync } = fs
  const { now } = Date
  const { isTTY } = process.stderr
  let time = 0
  let shown = ''
  const said: string[] = []
  fs.writeSync = ((descriptor: number, bytes: Buffer) => {
    if (descriptor !== 2) return writeSync(descriptor, bytes)
    shown += bytes
    return bytes.length
  }) as typeof fs.writeSync
  syncBuiltinESMExports()
  Date.now = () => time
  process.stderr.isTTY = true
  try {
    const progress = new Progress([{ log }])
    progress.read(100)
    time = 900
    progress.read(100)
    progress.clear()
    const before = shown
    time = 1001
    progress.read(100)
    time = 1100
    progress.read(100)
    time = 1300
    progress.read(5000)
    progress.around((message) => said.push(`${shown.slice(-4)}${message}`))('damaged')
    process.stderr.isTTY = false
    const silent = new Progress([{ log }])
    time = 9999
    silent.read(10)
    t.equal(before, '')
  } finally {
    Object.assign(fs, { writeSync })
    Object.assign(Date, { now })
    process.stderr.isTTY = isTTY
    syncBuiltinESMExports()
  }
  t.equal(shown, '\r\x1b[Kreading: 30 %\r\x1b[Kreading: 99 %\r\x1b[K')
  t.same(said, ['\r\x1b[Kdamaged'])
})
