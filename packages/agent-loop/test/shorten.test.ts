import t from 'tap'
import type { Item } from '../src/conversation.js'
import { keptOf, startOfKept } from '../src/kept-items.js'
import { fitItems, shortenItems, shortenText } from '../src/shorten.js'
import { itemsTokens, textTokens } from '../src/tokens.js'

const user = (text: string): Item => ({ kind: 'user', text })
const result = (id: string, output: string): Item => ({ kind: 'result', id, name: 'Do', output, status: 'ok' })
const call = (id: string): Item => ({ kind: 'call', id, name: 'Do', input: '{}' })
const USAGE: Item = { kind: 'response', model: 'm' }

t.test('a text is cut between characters, and says how much is left out', (t) => {
  for (const sample of ['abcdefghij', '漢字仮名', '😀', 'e\u0301', '\uD800', 'a😀é漢']) {
    const text = sample.repeat(Math.ceil(40_000 / sample.length))
    for (let tokens = 100; tokens < 140; tokens++) {
      const short = shortenText(text, tokens)
      const [head = '', tail = ''] = short.split(/\n\[\.\.\. \d+ characters[^\n]*\n/)
      const left = Number(/\[\.\.\. (\d+)/.exec(short)?.[1])
      t.ok(text.startsWith(head) && text.endsWith(tail) && head !== '' && tail !== '')
      t.equal(head.length + left + tail.length, text.length)
      if (sample !== '\uD800') t.notMatch(head + tail, /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/)
      t.ok(textTokens(short) < tokens + 60, `${textTokens(short)} of ${tokens}`)
    }
  }
  t.equal(shortenText('short', 100), 'short')
  t.end()
})

t.test('what fits is the very array that was given', (t) => {
  const items = [user('go'), call('a'), USAGE, result('a', 'x'.repeat(3000))]
  t.equal(shortenItems(items, 1000), items)
  t.equal(fitItems(items, 2000), items)
  t.end()
})

t.test('the longest are shortened first; calls and thinking never are', (t) => {
  const items = [user('go'), call('a'), call('b'), USAGE, result('a', 'x'.repeat(100_000)), result('b', 'short')]
  const fitted = fitItems(items, 1000)
  t.ok(itemsTokens(fitted) <= 1060, `${itemsTokens(fitted)}`)
  t.match(fitted, [{ text: 'go' }, {}, {}, {}, { output: /left out/ }, { output: 'short' }])
  const thinking: Item = { kind: 'thinking', text: 'x'.repeat(10_000), signature: 's', whole: true }
  t.equal(fitItems([thinking, user('go')], 3000)[0], thinking)
  t.end()
})

t.test('where shortening is not enough the newest are left', (t) => {
  const items = Array.from({ length: 1000 }, (_, at) => user(`${at} ${'x'.repeat(400)}`))
  const fitted = fitItems(items, 5000)
  t.ok(itemsTokens(fitted) <= 5000 && fitted.length > 20)
  t.match(fitted.at(-1), { text: /^999 / })
  const working = [user('go'), ...Array.from({ length: 100 }, (_, at) => [call(`c${at}`), USAGE, result(`c${at}`, 'x'.repeat(700))]).flat()]
  const left = fitItems(working, 2000)
  t.match([left[0], left.at(-1)], [{ text: 'go' }, { id: 'c99' }])
  t.ok(itemsTokens(left) < 2100 && left.length < 200)
  t.same(fitItems([user('hi')], 1), [user('hi')])
  t.end()
})

t.test('what a compaction keeps: whole turns, never all; of a running turn that is too long, responses', (t) => {
  const turn = (name: string, bytes: number) => [user(name), call(name), USAGE, result(name, 'x'.repeat(bytes)), { kind: 'stop', reason: 'end_turn' } as Item]
  const items = [...turn('a', 10_000), ...turn('b', 100), ...turn('c', 100)]
  t.same(keptOf(items, 500, false), { turns: 2, responses: 0 })
  t.equal(startOfKept(items, { turns: 2, responses: 0 }), 5)
  t.same(keptOf(items, 1e9, false), { turns: 2, responses: 0 })
  t.same(keptOf(items, 50, false), { turns: 0, responses: 0 })
  t.same(keptOf([], 50, false), { turns: 0, responses: 0 })
  const running = [user('go'), ...['a', 'b', 'c'].flatMap((id) => [call(id), USAGE, result(id, 'x'.repeat(350))])]
  t.same(keptOf(running, 260, true), { turns: 0, responses: 2 })
  t.equal(startOfKept(running, { turns: 0, responses: 2 }), 4)
  t.same(keptOf(running, 10, true), { turns: 0, responses: 1 })
  t.same(keptOf([...items, user('new')], 10, true), { turns: 1, responses: 0 })
  t.end()
})
