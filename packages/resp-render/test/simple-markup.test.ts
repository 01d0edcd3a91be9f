import fc from 'fast-check'
import t from 'tap'
import { inlineTokens } from '../src/markdown/lexer.js'
import { type Piece, simplePieces } from '../src/markdown/simple-markup.js'
import { render } from './render.js'

/** What the lexer says of a text, as pieces; undefined where it is more than those can say. */
function lexed(text: string): readonly Piece[] | undefined {
  const pieces: Piece[] = []
  const add = (type: 'text' | 'strong' | 'emphasis', content: string) => {
    const last = pieces.at(-1)
    if (type === 'text' && last?.type === 'text') pieces[pieces.length - 1] = { type, content: last.content + content }
    else if (content !== '') pieces.push({ type, content })
  }
  const tokens = [...inlineTokens(text, {})]
  for (let token = tokens.shift(); token; token = tokens.shift()) {
    if (token.type === 'text') add('text', token.content)
    else if (token.type === 'softbreak' || token.type === 'hardbreak') add('text', '\n')
    else if (token.type === 'code_inline') pieces.push({ type: 'code', content: token.content })
    else {
      const content = tokens.shift()
      const end = tokens.shift()
      if (content?.type !== 'text' || end?.type !== token.type.replace('_open', '_close')) return undefined
      if (token.type === 'link_open') pieces.push({ type: 'link', content: content.content, href: String(token.attrGet('href')) })
      else add(token.type === 'strong_open' ? 'strong' : 'emphasis', content.content)
    }
  }
  return pieces
}

/** Blanks in front of a line end are not shown: the lexer drops them, we do later. */
function shown(pieces: readonly Piece[] | undefined): readonly Piece[] | undefined {
  return pieces?.map((piece) => (piece.type === 'text' ? { ...piece, content: piece.content.replace(/ +\n/g, '\n') } : piece))
}

const ATOMS = [
  ...['a', 'b c', ' ', '  ', '\n', '.', ',', '!', '(', ')', '7', 'é', '漢', '\u00a0', 'snake_case', '_', '_x_', '**', '*', '***', '`', '``', '[', ']'],
  ...[
    '**bold**',
    '*soft*',
    '`code`',
    '` x `',
    '`a\\`',
    '[text](https://example.com)',
    '[text](https://example.com/a_b/#c)',
    '](https://x.org/)',
    '~~',
    '&',
    '<',
  ],
  ...['[a](https://x)', '[a](HTTPS://x.org)', '[*a*](https://x.org)', '[a](https://x.org/%zz)', '**a.**', '*(a)*', 'https://example.com/'],
]

t.test('what is said of simple markup is what the lexer says', async (t) => {
  let simple = 0
  const texts = fc.array(fc.constantFrom(...ATOMS), { maxLength: 8 }).map((atoms) => atoms.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const pieces = simplePieces(text)
      if (pieces === undefined) return true
      simple++
      return JSON.stringify(shown(pieces)) === JSON.stringify(shown(lexed(text)))
    }),
    { numRuns: 5000 },
  )
  t.ok(simple > 500, 'some of them are simple')
})

t.test('markup in other markup, and what has to be encoded, is for the lexer', async (t) => {
  for (const text of ['**`a`**', '***a***', '[`a`](https://x.org)', '[a](https://x.org/ä)', '![a](https://x.org)', 'a\\*', 'a &amp; b', '<b>', '~~a~~']) {
    t.equal(simplePieces(text), undefined, text)
  }
  t.equal(simplePieces('a **b** `c` *d* [e](https://x.org/e), snake_case')?.length, 9)
})

t.test('what is taken at once is what is taken piece by piece', async (t) => {
  const words = (length: number) => 'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length)
  const texts = [480, 499, 500, 501, 990, 1000, 1010].flatMap((length) =>
    [`**a${words(length)}a**`, `*a${words(length)}a*`, `\`a${words(length)}a\``, `[${words(length)}](https://example.com/)`].map(
      (markup) => `word ${markup} and more `,
    ),
  )
  texts.push('see https://example.com/a**b** and more', 'wow! [a](https://example.com/) and', 'a_b_c *d* ![e](https://example.com/) h')
  for (const text of texts) {
    const options = { depth: 16, links: true } as const
    const whole = render([['TEXT', text]], options)
    t.equal(
      render(
        [...text].map((character) => ['TEXT', character]),
        options,
      ),
      whole,
      text.slice(0, 40),
    )
  }
})
