import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SharedRunner } from './support/live-runner.js'
import { Place } from './support/tools.js'

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

const place = new Place(t)
const runner = new SharedRunner(t, place)

t.test('several edits of a file: all or none, each in what the one before has made', async (t) => {
  const file = join(place.workspace, 'f')
  writeFileSync(file, 'a\r\nb\r\nb\r\n')
  const edit = (edits: unknown) => runner.callOne('Edit', { path: 'f', edits })
  t.match(
    await edit([
      { old_string: 'a\n', new_string: 'x\ny\n' },
      { old_string: 'y', new_string: '$&' },
      { old_string: 'b', new_string: 'c', replace_all: true },
    ]),
    { status: 'ok', output: 'edited f: 4 places' },
  )
  t.equal(readFileSync(file, 'utf8'), 'x\r\n$&\r\nc\r\nc\r\n')
  const failing: [unknown, RegExp][] = [
    [
      [
        { old_string: 'x', new_string: 'z' },
        { old_string: 'c', new_string: 'd' },
      ],
      /^edit 2 of 2: old_string is there 2 times.*nothing was changed$/,
    ],
    [
      [
        { old_string: 'x', new_string: 'z' },
        { old_string: 'x', new_string: 'd' },
      ],
      /^edit 2 of 2: old_string is not in the file/,
    ],
    [
      [
        { old_string: 'x', new_string: 'z' },
        { old_string: 'z', new_string: 'x' },
      ],
      /change nothing/,
    ],
    [[{ old_string: 'x' }], /edits\.0\.new_string is missing/],
    [[], /edits must have at least 1/],
    ['x', /edits must be an array, not a string/],
  ]
  for (const [edits, problem] of failing) t.match(await edit(edits), { status: 'error', output: problem })
  t.match(await runner.callOne('Edit', { path: 'f', old_string: 'x', new_string: 'y', edits: [{ old_string: 'x', new_string: 'y' }] }), {
    status: 'error',
    output: /either edits, or/,
  })
  t.match(await runner.callOne('Edit', { path: 'f', old_string: 'x' }), { status: 'error', output: /new_string is missing/ })
  t.match(await runner.callOne('Edit', { path: 'f' }), { status: 'error', output: /old_string is missing/ })
  t.equal(readFileSync(file, 'utf8'), 'x\r\n$&\r\nc\r\nc\r\n')
})

t.test('Read of an image gives it, by its content and not by its name', async (t) => {
  writeFileSync(join(place.workspace, 'picture.txt'), PNG)
  writeFileSync(join(place.workspace, 'text.png'), 'no picture\n')
  writeFileSync(join(place.workspace, 'large.gif'), Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(4_000_000)]))
  t.match(await runner.callOne('Read', { path: 'picture.txt' }), {
    status: 'ok',
    output: `[image/png, ${PNG.length} bytes]`,
    image: PNG.toString('base64'),
    image_type: 'image/png',
  })
  t.match(await runner.callOne('Read', { path: 'text.png' }), { status: 'ok', output: /no picture/ })
  t.match(await runner.callOne('Read', { path: 'large.gif' }), { status: 'error', output: /large.gif is an image of 4000006 bytes: at most/ })
})

t.test('TodoWrite keeps the list', async (t) => {
  const todos = [
    { content: 'look', status: 'completed' },
    { content: 'do', status: 'in_progress' },
    { content: 'test', status: 'pending' },
  ]
  t.match(await runner.callOne('TodoWrite', { todos }), { status: 'ok', output: 'The list is kept: 1 of 3 done. Next: do', summary: '1 of 3 done' })
  t.match(await runner.callOne('TodoWrite', { todos: [{ content: 'x', status: 'done' }] }), {
    status: 'error',
    output: /todos\.0\.status must be one of pending/,
  })
})
