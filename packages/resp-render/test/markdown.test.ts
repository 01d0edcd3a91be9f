import { Parser } from 'commonmark'
import spec from 'commonmark-spec'
import t from 'tap'
import { cellsOf } from '../src/cells.js'
import { render } from './render.js'

const text = (content: string, options = {}) => render([['TEXT', content]], { width: 40, ...options })
/** Without what a terminal acts on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const bare = (screen: string) => screen.replace(/\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\/g, '')

t.test('blocks', async (t) => {
  t.equal(text('# One\n## Two ##\n### Three\ntext'), 'One\n═══\n\nTwo\n───\n\nThree\n\ntext\n')
  t.equal(text('Setext\n===\nmore'), 'Setext\n══════\n\nmore\n', 'an underline stands where it comes')
  t.equal(text('- a\n- b\n  - c\n    1. d\n    2. e\n\n  f\n- [x] g\n- [ ] h\n3) i'), '• a\n• b\n  ◦ c\n    1. d\n    2. e\n\n  f\n☑ g\n☐ h\n3) i\n')
  t.equal(text('-\n- a\n-'), '•\n• a\n•\n', 'empty items')
  t.equal(text('> a\nlazy\n> > b\n>\n> c\n\nd'), '▌ a\n▌ lazy\n▌ ▌ b\n▌\n▌ c\n\nd\n')
  t.equal(text('a\n\n---\n***\nb', { width: 8 }), 'a\n\n────────\n\n────────\n\nb\n')
  t.equal(
    text('- a word that is wrapped under the text of its item, not under the bullet'),
    '• a word that is wrapped under the text\n  of its item, not under the bullet\n',
  )
  t.equal(text('<div>\n*raw*\n\n*text*'), '<div>\n*raw*\n\ntext\n')
})

t.test('code is not wrapped, not marked up, and ends with its fence', async (t) => {
  const line = `x = [1, **2**] ${'y'.repeat(60)}`
  t.equal(text(`a\n\`\`\`py\n${line}\n\n\tz\n\`\`\`\nb`), `a\n\n  ${line}\n\n      z\n\nb\n`)
  t.equal(text('```\na\n~~~\n````\nb'), '  a\n  ~~~\n\nb\n')
  t.equal(text('- ```\n  a\nb'), '•   a\n\nb\n', 'or with its item')
  t.equal(text('```js\n`${'), '  `${\n', 'or with the message')
  t.match(text('```js\nconst a = 1 // b\n```', { depth: 16 }), '\x1b[35mconst\x1b[0m')
  t.match(text('```js\n/* a\nb */ c\n```', { depth: 16 }), '  \x1b[2;3mb */\x1b[0m c\n', 'a comment of several lines')
  t.equal(text('```what-is-this\nconst\n```', { depth: 16 }), '  const\n')
  t.equal(text('```\naaaa bbbb cccc\n```', { width: 10, wrapCode: true }), '  aaaa bbb\n  b cccc\n')
})

t.test('text', async (t) => {
  t.equal(text('**b** _e_ `c` ~~s~~ \\*x\\* &amp; &#x1b;&#x202e;'), 'b e `c` ~~s~~ *x* & \ufffd\\u202e\n', 'in plain text signs stay that mean something')
  t.equal(text('**b** `c`', { depth: 16 }), '\x1b[1mb\x1b[0m \x1b[36mc\x1b[0m\n')
  t.equal(text('snake_case_name 2 * 3 * 4 a*b <b>x</b>'), 'snake_case_name 2 * 3 * 4 a*b <b>x</b>\n')
  t.equal(text('a **b\n\nc** d'), 'a **b\n\nc** d\n', 'nothing reaches into the next block')
  t.equal(text('one  \ntwo\nthree'), 'one\ntwo\nthree\n', 'line ends stay')
})

t.test('links', async (t) => {
  const open = (content: string) => text(content, { depth: 16, links: true, width: 80 })
  t.equal(
    open('[a b](https://x.y)'),
    '\x1b]8;id=1;https://x.y\x1b\\\x1b[4;34ma b\x1b[0m\x1b]8;;\x1b\\\n'.replace(
      '\x1b]8;id=1;https://x.y\x1b\\\x1b[4;34m',
      '\x1b]8;id=1;https://x.y\x1b\\\x1b[4;34m',
    ),
  )
  t.equal(
    bare(open('[a](https://x.y) [https://x.y](https://evil.z) [f](src/f.js) [h](#h)')),
    'a https://x.y (https://evil.z) f (src/f.js) h\n',
    'no text hides another address',
  )
  t.equal(text('[a](https://x.y) https://x.y/z?a=b_c_d. <https://u.v>'), 'a (https://x.y) https://x.y/z?a=b_c_d.\nhttps://u.v\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  t.notMatch(open('[a](javascript:x) [b](file:///etc/passwd) [c](./d) [e](HTTPS://x.y)'), /\x1b\]8;id=\d+;(?!https:)/i)
  t.equal(text('[r]: https://x.y "t"\n\nsee [r], not [s]\n\n[s]: https://s.t'), 'see r (https://x.y), not [s]\n\n[s]: https://s.t\n')
  t.equal(text('![a picture](https://x.y/z.png)'), '▣ a picture (https://x.y/z.png)\n')
})

t.test('tables: case 12', async (t) => {
  const table = `| a | b | c |\n|---|--:|---|\n| ${'x'.repeat(200)} | 1 | ${'狐は走る'.repeat(10)} |\n| *e* | 22 | \`p\\|q\` |\n`
  for (const width of [200, 80, 40, 24, 6, 2, 1]) {
    const screen = text(table, { width })
    t.same(
      screen.split('\n').filter((line) => cellsOf(line) > Math.max(2, width)),
      [],
      `${width} wide`,
    )
    t.equal(screen.replace(/[^x]/g, '').length, 200)
    t.equal(screen.replace(/[^狐は走る]/g, ''), '狐は走る'.repeat(10))
  }
  t.equal(text('| a | b |\n|---|:-:|\n| 1 | wide |\n| 2 |\nc'), 'a │  b\n──┼─────\n1 │ wide\n2 │\nc │\n')
  t.equal(text('| no | table |\n\n| x\ny'), '| no | table |\n\n| x\ny\n')
  t.equal(text('a | b\n--|--\n1 | 2'), 'a | b\n1 │ 2\n', 'heads that were shown already stay')
  t.equal(text(`|a|\n|-|\n${'|x|\n'.repeat(1000)}`).split('\n').length, 1003, 'a long one is shown before it ends')
})

t.test('what is said is shown word by word', async (t) => {
  const { Renderer } = await import('../src/renderer.js')
  const { OPTIONS } = await import('./render.js')
  const { framesOf, frames } = await import('@agentpipe/testing')
  const renderer = new Renderer(OPTIONS)
  const said = (content: string) => {
    for (const frame of framesOf(frames(['TEXT', content]))) renderer.frame(frame)
    return renderer.take()
  }
  t.equal(said('- It'), '• It')
  t.equal(said(' is **very'), ' is')
  t.equal(said(' bold** now'), ' very bold')
  t.equal(said(', with `code'), ' now, with')
  t.equal(said('`.\n```'), ' `code`.')
  t.equal(said('js\nlet a\nlet'), '\n\n  let a\n')
})

t.test('the words of the examples of CommonMark are those of the reference', async (t) => {
  const words = (content: string) => (content.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
  const wrong = spec.tests.filter(({ markdown }) => {
    const content = markdown.replaceAll('→', '\t')
    const parser = new Parser()
    const reference = referenceText(parser, content)
    // What links refer to stands in front: we know of nothing that comes later.
    const definitions = Object.values(definitionsOf(parser)).map(([label, address]) => `[${label}]: <${address}>\n\n`)
    const screen = render([['TEXT', definitions.join('') + content]], {
      width: 1000,
      depth: 16,
      theme: { name: 'dark', changes: { address: 'inverse strike' } },
    })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    const found = words(bare(screen.replace(/\x1b\[(?:[\d;]+;)?7;9m[^\x1b]*/g, '')))
    return found !== words(reference)
  })
  t.same(
    wrong.map(({ number }) => number),
    [208, 541],
    'but for labels of links that are several lines long: those are text',
  )
})

function definitionsOf(parser: Parser): readonly (readonly [string, string])[] {
  const { refmap } = parser as unknown as { refmap: Readonly<Record<string, { destination: string }>> }
  return Object.entries(refmap).map(([label, { destination }]) => [label, destination] as const)
}

/** All that its tree says, HTML as it stands. */
function referenceText(parser: Parser, content: string): string {
  const parts: string[] = []
  const walker = parser.parse(content).walker()
  for (let event = walker.next(); event; event = walker.next()) {
    const { node, entering } = event
    if (node.type === 'item' && entering && node.listType === 'ordered') {
      let number = node.parent?.listStart ?? 1
      for (let before = node.prev; before; before = before.prev) number++
      parts.push(` ${number}. `)
    } else if (entering && node.literal !== null) parts.push(node.literal)
    else if (['item', 'softbreak', 'linebreak', 'paragraph', 'heading', 'code_block', 'html_block'].includes(node.type)) parts.push(' ')
  }
  return parts.join('')
}
