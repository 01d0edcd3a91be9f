import t from 'tap'
import { render } from './render.js'

/** What a call prints, as it is shown: without the margin. */
function shown(chunks: readonly (string | Uint8Array)[], options = {}): string {
  const live = render(
    [['TOOL_CALL', 'Bash', 'c1', '{"command":"x"}'], ...chunks.map((chunk) => ['TOOL_OUTPUT', 'c1', chunk]), ['TOOL_RESULT', 'c1', 'Bash', 'not shown again']],
    options,
  )
  const whole = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))
  const after = render(
    [
      ['TOOL_CALL', 'Bash', 'c1', '{"command":"x"}'],
      ['TOOL_RESULT', 'c1', 'Bash', whole],
    ],
    options,
  )
  t.equal(live, after, 'the same whether it was shown live or comes with the result')
  return live.replace('● Bash  x\n', '').replace(/^ {2}│ ?/gm, '')
}

t.test('carriage returns: case 9', async (t) => {
  t.equal(shown(['\r  1%\r 50%\r100%\nCRLF line\r\nabc\rX\n']), '100%\nCRLF line\nXbc\n')
  t.equal(shown(['get 10%\r\x1b[Kdone\nlong line\r\x1b[2Kshort\n']), 'done\nshort\n')
  t.equal(shown(['漢字漢字\ra\n']), 'a 字漢字\n')
  t.equal(shown(['e\u0301X\rA\n']), 'AX\n')
  t.equal(shown(['|\b/\b-\n']), '-\n')
})

t.test('a progress bar of megabytes costs little', async (t) => {
  const bar = Array.from({ length: 200_000 }, (_, index) => `\r${index} of 200000`).join('')
  t.equal(shown([bar, '\n']), '199999 of 200000\n')
})

t.test('tabs: case 10', async (t) => {
  t.equal(shown(['a\tb\n\tc\n漢\td\n']), 'a       b\n        c\n漢      d\n')
  const diff = '@@ -1,2 +1,2 @@\n-\t\tx\n+\tvalue, err := load()\n'
  const screen = render([['TOOL_RESULT', 'c1', 'Edit', '', 'diff', diff]], { width: 40 })
  t.equal(screen, '✓ Edit  +1 -1\n  1 -                x\n  1 +        value, err := load()\n')
  const spaces = render([['TOOL_RESULT', 'c1', 'Edit', '', 'diff', '@@ -1 +1 @@\n-\ta b\n+        a b \n']])
  t.equal(spaces, '✓ Edit  +1 -1\n  1 -→       a·b\n  1 +········a·b·\n')
})

t.test('what is left out is counted', async (t) => {
  const lines = Array.from({ length: 100 }, (_, index) => `${index + 1}\n`)
  t.equal(shown(lines, { toolOutput: 4 }), '1\n2\n3\n4\n… 96 lines left out\n')
  t.equal(shown(lines, { toolOutput: 6 }), '1\n2\n3\n4\n… 94 lines left out\n99\n100\n')
  t.equal(shown(lines, { toolOutput: 0 }).includes('1\n'), false)
  t.equal(shown(lines, { toolOutput: 'all' }), lines.join(''))
  t.equal(shown(['\n\n1\n\n2\n\n\n'], { toolOutput: 3 }), '1\n\n2\n', 'empty lines around it are none')
  t.equal(shown([`${'x'.repeat(700)}\n`], { width: 1000 }), `${'x'.repeat(500)} … 200 more characters\n`)
  t.equal(shown([`${'x'.repeat(10_000)}\n`], { width: 104, toolOutput: 'all' }), `${'x'.repeat(100)}\n`.repeat(100))
})

t.test('colours of tools', async (t) => {
  const frames = [['TOOL_RESULT', 'c1', 'Bash', '\x1b[31mred\x1b[8mhidden\nstill']]
  t.match(render(frames, { depth: 16 }), '\x1b[31mredhidden\x1b[0m\n')
  t.ok(render(frames, { depth: 16 }).endsWith('\x1b[31mstill\x1b[0m\n'), 'off at the end')
  t.notMatch(render(frames, { depth: 16, toolColours: false }), '\x1b[31m')
  t.notMatch(render(frames), '\x1b')
})

t.test('calls are told in a line', async (t) => {
  const line = (name: string, input: unknown, ...attributes: string[]) =>
    render([['TOOL_CALL', name, 'c1', typeof input === 'string' ? input : JSON.stringify(input), ...attributes]])
  t.equal(line('Bash', { command: 'npm test' }), '● Bash  npm test\n')
  t.equal(line('Read', { path: 'a.js', offset: 10, limit: 20 }), '● Read  a.js:10-29\n')
  t.equal(line('Grep', { pattern: 'x', path: 'src' }), '● Grep  x  in src\n')
  t.equal(line('Bash', { command: 'a\nb\nc' }), '● Bash  a … 2 more lines\n')
  t.equal(line('Mine', { b: [1], a: 'x' }), '● Mine  b=[1]  a=x\n')
  t.equal(line('Bash', 'no json', 'command', 'ls'), '● Bash  no json\n', 'what is shown is what the runner reads')
  t.equal(line('__proto__', { constructor: 1 }), '● __proto__  constructor=1\n')
  t.equal(line('Bash', { command: null }), '● Bash  null\n')
  t.match(line('Deep', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), /^● Deep {2}a=/)
})
