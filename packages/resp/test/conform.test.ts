import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '@agentpipe/testing'
import t from 'tap'

const conform = (...command: string[]) => run('resp', ['conform', '--timeout=60', '--', ...command], { timeout: 240_000 })

t.test('a stage of ours keeps the contract', async (t) => {
  const ended = await conform('resp', 'grep', '-v', 'TEXT')
  t.match(ended, { status: 0, stderr: '' })
  t.match(ended.stdout.toString(), /^(ok {4}.*\n){12}it keeps the contract\n$/)
})

t.test('what does not is told, point by point', async (t) => {
  const { status, stdout } = await conform('cat')
  t.equal(status, 1)
  t.same(
    stdout
      .toString()
      .split('\n')
      .filter((line) => !line.startsWith('ok ')),
    [
      'FAIL  refuses what is no frame: 65, and all before it has gone on: it ended with 0',
      'FAIL  refuses input that ends inside a frame: 65: it ended with 0',
      'FAIL  goes on after SIGINT, to the end of its input: it ended with SIGINT',
      '3 of 12 points are not kept',
      '',
    ],
  )
})

t.test('a stage that takes everything in, loses frames, hangs, and dies with a trace', async (t) => {
  const stage = join(t.testdir(), 'stage')
  writeFileSync(
    stage,
    `#!${process.execPath}
process.on('SIGTERM', () => {})
let all = []
process.stdin.on('data', (chunk) => { all.push(chunk); if (chunk.includes('+3')) throw new Error('\\x1b[31mwrong') })
process.stdin.on('end', () => process.stdout.write(Buffer.concat(all).subarray(1)))
`,
  )
  chmodSync(stage, 0o755)
  const { status, stdout } = await run('resp', ['conform', '--timeout=4', '--', stage], { timeout: 120_000 })
  t.equal(status, 1)
  const text = stdout.toString()
  t.match(text, 'FAIL  passes frames that it does not own, byte for byte and in order: byte 0 of its output is another: "5')
  t.match(text, 'FAIL  passes each frame on without waiting for more: it holds what it has read')
  t.match(text, 'FAIL  refuses what is no frame: 65, and all before it has gone on: it ended with 1')
  t.match(text, 'FAIL  leaves on SIGTERM: it runs on')
  t.match(text, 'FAIL  reads no more while nobody takes what it writes: it took 64 MiB: its memory has no bound')
  t.notMatch(text, '\x1b')
})

t.test('a command that is not there', async (t) => {
  t.match(await conform('nosuchstage'), { status: 69, stderr: 'resp: cannot start nosuchstage: there is no such command\n' })
  t.match(await run('resp', ['conform']), { status: 64, stderr: /conform needs the COMMAND/ })
})
