import t from 'tap'
import { cellsOf } from '../src/cells.js'
import { render } from './render.js'

const TABLE = '| 項目 | v |\n|---|---|\n| ログイン失敗 | 1 |\n| ❤️ 👨‍👩‍👧 🇯🇵 e\u0301 | 22 |\n'

t.test('cells: case 11', async (t) => {
  for (const [text, cells] of [
    ['項目', 4],
    ['❤️', 2],
    ['❤', 1],
    ['👨‍👩‍👧', 2],
    ['🇯🇵', 2],
    ['e\u0301', 1],
    ['か\u3099', 2],
    ['1\ufe0f\u20e3', 2],
    ['👍🏽', 2],
    ['한국', 4],
    ['नमस्ते', 4],
    ['naïve —', 7],
  ] as const) {
    t.equal(cellsOf(text), cells, text)
  }
})

t.test('a text in frames of three bytes is the text', async (t) => {
  const bytes = Buffer.from(TABLE)
  const frames = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, index) => ['TEXT', bytes.subarray(index * 3, index * 3 + 3)])
  t.equal(render(frames), '項目         │ v\n─────────────┼───\nログイン失敗 │ 1\n❤️ 👨‍👩‍👧 🇯🇵 e\u0301   │ 22\n')
  for (const width of [1, 2, 7, 13]) t.equal(render(frames, { width }), render([['TEXT', TABLE]], { width }), `${width} wide`)
})

t.test('no line is over the width, and nothing is lost: case 12', async (t) => {
  const text = `| a | ${'x'.repeat(200)} | ${'狐は走る'.repeat(20)} | https://example.com/${'path/'.repeat(20)} |`
  const letters = (screen: string) => screen.replace(/\s/g, '')
  for (const width of [1000, 80, 40, 24, 6, 2]) {
    for (const frame of [
      ['TEXT', text],
      ['THINKING', text],
      ['ERROR', text],
      ['USER_MESSAGE', text],
      ['TOOL_RESULT', 'c', 'Bash', text],
      ['PERMISSION_REQUEST', 'c', 'Bash', 'r', 'input', text],
    ]) {
      const screen = render([frame], { width })
      t.same(
        screen.split('\n').filter((line) => cellsOf(line) > width),
        [],
        `${frame[0]}, ${width} wide`,
      )
    }
    t.equal(letters(render([['TEXT', text]], { width })), letters(text))
  }
  t.equal(render([['TEXT', 'abc de']], { width: 1 }), 'a\nb\nc\nd\ne\n')
})

t.test('words', async (t) => {
  const text = (content: string, width: number) => render([['TEXT', content]], { width })
  t.equal(text('one two three', 8), 'one two\nthree\n')
  t.equal(text('one two-three-four', 8), 'one\ntwo-thre\ne-four\n')
  t.equal(text('\n\na\n\n\n\n\n\nb\n\n\n', 30), 'a\n\nb\n')
  t.equal(text('a\tb\n\tc', 30), 'a       b\nc\n')
  const asked = (content: string) => render([['USER_MESSAGE', content]], { width: 30 })
  t.equal(asked('    indented\n  more\n\n\n\n\nb'), '>     indented\n    more\n\n\n  b\n')
  t.equal(text('a\r\nb\rc', 30), 'a\nb\nc\n')
})

t.test('a word is shown when it is known to fit, the first of a row at once', async (t) => {
  const { Renderer } = await import('../src/renderer.js')
  const { OPTIONS } = await import('./render.js')
  const { framesOf, frames } = await import('@agentpipe/testing')
  const renderer = new Renderer(OPTIONS)
  const said = (text: string) => {
    for (const frame of framesOf(frames(['TEXT', text]))) renderer.frame(frame)
    return renderer.take()
  }
  t.equal(said('Hel'), 'Hel')
  t.equal(said('lo wor'), 'lo')
  t.equal(said('ld, how'), ' world,')
  for (const frame of framesOf(frames(['USAGE', '1', '1', '0', '0']))) renderer.frame(frame)
  t.equal(renderer.take(), ' how\n')
})
