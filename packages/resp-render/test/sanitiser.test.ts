import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { allVisible, oneLine } from '../src/invisible.js'
import { Sanitiser, type TextSink } from '../src/sanitiser.js'

/** What is left of text given in pieces: TAB as <t>, CR as <r>, SGR as <m:...>. */
function clean(...pieces: readonly string[]): string {
  let text = ''
  const sink: TextSink = {
    text: (run) => {
      text += run
    },
    tab: () => {
      text += '<t>'
    },
    carriageReturn: () => {
      text += '<r>'
    },
    graphics: (parameters) => {
      text += `<m:${parameters}>`
    },
  }
  const sanitiser = new Sanitiser()
  for (const piece of pieces) sanitiser.push(piece, sink)
  return text
}

const CASES: readonly (readonly [string, string, string])[] = [
  [
    'case 8',
    'A\x1b]52;c;cm0gLXJm\x07B\x1b]0;T\x07C\x1b[2J\x1b[HD\x1b[?1049hE\x1bPq#0\x1b\\F\x1b]8;;file:///etc/passwd\x1b\\G\x1b]8;;\x1b\\H\x1b(0I',
    'ABCDEFGHI',
  ],
  ['C1 forms', 'A\u009b2JB\u009d0;x\u009cC\u0090q\u009cD\u0098s\u009cE\u009ep\u009cF\u009fa\u009cG\u0085H', 'ABCDEFGH'],
  ['APC, PM, SOS, title of screen', 'A\x1b_x\x1b\\B\x1b^x\x1b\\C\x1bXx\x1b\\D\x1bkx\x1b\\E', 'ABCDE'],
  ['two characters', 'A\x1b7B\x1b8C\x1bcD\x1b=E\x1b#8F\x1b%GH', 'ABCDEFH'],
  ['lone controls', 'A\x00B\x07C\x0bD\x0cE\x7fF\x0e\x0f', 'ABCDEF'],
  ['what a terminal acts on otherwise', 'a\tb\rc\nd', 'a<t>b<r>c\nd'],
  ['SGR, but no other sequence that ends in m', 'A\x1b[1;31mB\x1b[mC\x1b[>4;2mD\x1b[38:2::1:2:3mE', 'A<m:1;31>B<m:>CD<m:38:2::1:2:3>E'],
  ['directions', 'a\u202eb\u2066c\u200fd\u061ce\ufefff', 'a\\u202eb\\u2066c\\u200fd\\u061ce\\ufefff'],
  [
    'tags, but in a flag',
    'a\u{e0041}b 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'a\\u{e0041}b 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ],
  ['joiners stay', '👩\u200d👩 \u0645\u200c', '👩\u200d👩 \u0645\u200c'],
  ['a sequence inside a string', 'A\x1b]0;x\x1b[31mB', 'A<m:31>B'],
  ['broken off', 'A\x1b[3\nB\x1b\nC\x1b]x\x18D\x1b[1é', 'A\nB\nCDé'],
  ['BEL does not end a DCS', 'A\x1bPq\x07B\x1b\\C', 'AC'],
  ['not finished', 'A\x1b]0;B', 'A'],
]

for (const [name, input, expected] of CASES) {
  t.test(name, async (t) => {
    t.equal(clean(input), expected)
    t.equal(clean(...input), expected, 'character by character')
    const bytes = Buffer.from(input)
    for (const [first, second] of everyCut(bytes)) {
      const [a, b] = [Buffer.from(first).toString(), Buffer.from(second).toString()]
      if (!a.includes('\ufffd') && !b.includes('\ufffd')) t.equal(clean(a, b), expected)
    }
  })
}

t.test('an unfinished sequence hides a few thousand characters at the most', async (t) => {
  const left = clean(`\x1b]52;c;${'x'.repeat(100_000)}`)
  t.ok(left.length > 95_000)
  t.equal(clean(`\x1b[${'1;'.repeat(1000)}`).length > 1000, true)
  t.equal(clean(`\x1b(${' '.repeat(1000)}A`).endsWith('A'), true)
})

t.test('nothing of a block reaches into the next', async (t) => {
  const sanitiser = new Sanitiser()
  const runs: string[] = []
  const sink = { text: (run: string) => void runs.push(run), tab: () => {}, carriageReturn: () => {} }
  for (const start of ['\x1b', '\x1b[3', '\x1b]0;x', '\x1bPx', '\x1b]x\x1b', '\x1b(']) {
    sanitiser.push(start, sink)
    sanitiser.reset()
    sanitiser.push('0m!', sink)
  }
  t.equal(runs.join(''), '0m!'.repeat(6))
})

t.test('one line of a field', async (t) => {
  t.equal(oneLine('a\x1b[31mb\x1b]0;t\x07c\u009b1md\u202e'), 'abcd\\u202e')
  t.equal(oneLine('cat <<E\nx\ny\nE\n'), 'cat <<E … 3 more lines')
  t.equal(oneLine('x'.repeat(600)), `${'x'.repeat(500)}…`)
  t.equal(oneLine(Buffer.alloc(50_000_000, 'x'), 10), 'xxxxxxxxxx…')
  t.equal(oneLine(undefined), '')
})

t.test('everything visible', async (t) => {
  t.equal(allVisible('a\x1b[8m\u202e\u200b\u{e0041}\r\t\u00a0\x9b'), 'a\\x1b[8m\\u202e\\u200b\\u{e0041}\\r\\t\\xa0\\x9b')
})
