import fc from 'fast-check'
import t from 'tap'
import type { Item } from '../src/conversation.js'
import type { Settings } from '../src/options.js'
import { anthropicRequest } from '../src/providers/anthropic-request.js'
import { anthropicSettings } from '../src/providers/anthropic-settings.js'
import { requestMessages } from '../src/request-messages.js'
import type { Tool } from '../src/tool-list.js'
import { anthropicFault } from './support/anthropic-faults.js'
import { anyItem } from './support/any-item.js'

const TOOLS: readonly Tool[] = ['Do', 'Read'].map((name) => ({ name, description: 'does it', schema: { properties: {} } }))

/** The body of the request for these items. */
function body(items: readonly Item[], options: Partial<Settings> = {}, tools = TOOLS, system = 'Be good.'): string {
  const settings = anthropicSettings({ model: 'm', ...options } as Settings, () => 32_000)
  const messages = () => requestMessages(items, settings.model, () => {})
  return JSON.stringify(anthropicRequest({ messages, tools, system, turn: 0, request: 0 }, settings))
}

/** A conversation of many turns, with thinking, calls side by side and images. */
function turns(count: number): Item[] {
  const image = { data: 'R0lGODdh', type: 'image/gif' }
  return Array.from({ length: count }, (_, n): Item[] => [
    { kind: 'user', text: `go ${n}`, ...(n % 3 ? {} : { image }) },
    { kind: 'thinking', text: `hm ${n}`, signature: `s${n}`, whole: true },
    { kind: 'text', text: 'I do.' },
    { kind: 'call', id: `a${n}`, name: 'Do', input: '{"n": 1.0}' },
    { kind: 'call', id: `b${n}`, name: 'Read', input: '{}' },
    { kind: 'response', model: 'm' },
    { kind: 'result', id: `b${n}`, name: 'Read', output: '', status: 'error', image },
    { kind: 'result', id: `a${n}`, name: 'Do', output: 'ok', status: 'ok', image },
    { kind: 'notice', text: 'note' },
    { kind: 'text', text: 'Done.' },
    { kind: 'response', model: 'm' },
    { kind: 'stop', reason: 'end_turn' },
  ]).flat()
}

t.test('marks apart, each request begins with the bytes of the one before, and four marks are the most', (t) => {
  const signed = new Map(Array.from({ length: 20 }, (_, n) => [`s${n}`, `hm ${n}`]))
  const items = turns(20)
  const requests = items.flatMap((item, at) => (item.kind === 'user' || item.kind === 'notice' ? [body(items.slice(0, at + 1))] : []))
  t.equal(requests.length, 40)
  let before = ''
  for (const request of requests) {
    t.equal(anthropicFault(request, signed), undefined)
    t.ok(request.split('"cache_control"').length <= 5)
    const plain = request.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    t.ok(plain.startsWith(before))
    before = plain.slice(0, -']}'.length)
  }
  t.end()
})

t.test('what the last request has marked as its end, the next one has marked as well: so it is read from the cache', (t) => {
  const marked = (request: string) =>
    (JSON.parse(request).messages as { content: object[] }[]).flatMap(({ content }, at) => (content.some((block) => 'cache_control' in block) ? [at] : []))
  const items = turns(5)
  t.same(marked(body(items.slice(0, 37))), [10, 12])
  t.same(marked(body(items.slice(0, 45))), [12, 14])
  t.end()
})

t.test('any items whatsoever make a request that the server takes', (t) => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 30 }), fc.constantFrom('off', '2048', 'adaptive', undefined), fc.boolean(), (items, thinking, tools) => {
      const signed = new Map(items.flatMap((item) => (item.kind === 'thinking' && item.signature ? [[item.signature, item.text]] : [])) as [string, string][])
      // Where the same signature stands on two texts, the server would refuse it, and rightly.
      if (items.some((item) => item.kind === 'thinking' && item.signature && signed.get(item.signature) !== item.text)) return
      const request = body(items, thinking === undefined ? {} : { thinking }, tools ? TOOLS : [], tools ? 'x' : ' ')
      const fault = anthropicFault(request, signed)
      if (fault !== undefined) throw new Error(`${fault}: ${request}`)
    }),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('options', (t) => {
  const sent = (options: Partial<Settings>) => JSON.parse(body([{ kind: 'user', text: 'hi' }], options))
  t.match(sent({}), { model: 'm', max_tokens: 32_000, stream: true, thinking: undefined, temperature: undefined, output_config: undefined })
  t.match(sent({ thinking: '2048', 'max-tokens': 4096 }), { max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } })
  t.match(sent({ thinking: '64000' }), { max_tokens: 72_192 })
  t.match(sent({ thinking: 'adaptive', effort: 'max' }), { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })
  t.match(sent({ thinking: 'off', temperature: '0.5' }), { thinking: { type: 'disabled' }, temperature: 0.5 })
  t.match(anthropicSettings({} as Settings, () => 1).model, /^claude-/)
  const refused: Partial<Settings>[] = [
    { thinking: '100' },
    { thinking: 'much' },
    { thinking: '4096', 'max-tokens': 4096 },
    { thinking: 'adaptive', temperature: '1' },
    { effort: 'very' },
    { temperature: '2' },
    { temperature: '' },
    { temperature: 'hot' },
  ]
  for (const options of refused) t.throws(() => sent(options), { status: 64, message: /^--/ }, JSON.stringify(options))
  t.end()
})

t.test('a response without its thinking, with calls whose results are sent: no budget for more', (t) => {
  const items: Item[] = [
    { kind: 'user', text: 'go' },
    { kind: 'call', id: 'a', name: 'Do', input: '{}' },
    { kind: 'response', model: 'other' },
  ]
  t.notOk('thinking' in JSON.parse(body(items, { thinking: '2048' })))
  t.ok('thinking' in JSON.parse(body(items, { thinking: 'adaptive' })))
  t.end()
})

t.test('images: in results, behind results that failed, and too large ones in words', (t) => {
  const contents = JSON.parse(body(turns(1))).messages.map(({ content }: { content: object[] }) => content)
  t.match(contents[0], [{ type: 'text' }, { type: 'image', source: { media_type: 'image/gif', data: 'R0lGODdh' } }])
  t.match(contents[2], [
    { type: 'tool_result', tool_use_id: 'a0', content: [{ text: 'ok' }, { type: 'image' }] },
    { type: 'tool_result', tool_use_id: 'b0', content: '(no output)', is_error: true },
    { type: 'image' },
    { type: 'text', text: 'note' },
  ])
  const large = body([{ kind: 'user', text: '', image: { data: `/9j/${'A'.repeat(6 * 1024 * 1024)}`, type: 'image/jpeg' } }])
  t.equal(anthropicFault(large, new Map()), undefined)
  t.match(large, /too large/)
  t.end()
})

t.test('tools that were called are named where there are none any more', (t) => {
  const sent = JSON.parse(body(turns(1), {}, []))
  t.match(sent.tools, [{ name: 'Do' }, { name: 'Read' }])
  t.match(sent.tool_choice, { type: 'none' })
  t.end()
})
