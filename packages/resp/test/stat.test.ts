import { frames, run } from '@agentpipe/testing'
import t from 'tap'

const input = frames(['TEXT', 'hello'], ['STOP', 'end_turn'], ['TEXT', ''], ['END'])

t.test('a table, largest first', async (t) => {
  const { stdout, status } = await run('resp', ['stat'], { input })
  t.equal(status, 0)
  t.equal(
    stdout.toString(),
    [
      '  frames        bytes  type',
      '       2           45  TEXT',
      '       1           28  STOP',
      '       1           13  END',
      '       4           86  total',
      '',
    ].join('\n'),
  )
})

t.test('--json', async (t) => {
  t.same(JSON.parse((await run('resp', ['stat', '--json'], { input })).stdout.toString()), {
    frames: 4,
    bytes: input.length,
    types: [
      { type: 'TEXT', frames: 2, bytes: 45 },
      { type: 'STOP', frames: 1, bytes: 28 },
      { type: 'END', frames: 1, bytes: 13 },
    ],
  })
  t.same(JSON.parse((await run('resp', ['stat', '--json'])).stdout.toString()), { frames: 0, bytes: 0, types: [] })
})

t.test('of malformed input, what stands before', async (t) => {
  const ended = await run('resp', ['stat', '--json'], { input: Buffer.concat([input, Buffer.from('x')]) })
  t.match(ended, { status: 65, stderr: 'resp: expected "*" at byte 86, found "x"\n' })
  t.equal(JSON.parse(ended.stdout.toString()).frames, 4)
})

t.test('any number of types, of any length', async (t) => {
  const many = frames(...Array.from({ length: 3000 }, (_, index) => [`T${index}`]), ['X'.repeat(100_000)], ['T5'])
  const { types, frames: count } = JSON.parse((await run('resp', ['stat', '--json'], { input: many })).stdout.toString())
  t.equal(count, 3002)
  t.equal(types.length, 1001)
  t.match(types[0], { type: 'other', frames: 2001 })
  t.match(
    types.find(({ type }: { type: string }) => type === 'T5'),
    { frames: 2 },
  )
})
