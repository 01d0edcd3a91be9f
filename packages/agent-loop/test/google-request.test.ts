import t from 'tap'
import type { Item } from '../src/conversation.js'
import type { Settings } from '../src/options.js'
import { ProviderError } from '../src/provider.js'
import { google } from '../src/providers/google.js'
import { type ModelBlock, type RequestMessage, requestMessages, type UserBlock } from '../src/request-messages.js'
import type { Tool } from '../src/tool-list.js'
import { chunk, stream } from './support/google-server.js'
import { answering, collect, requestOf } from './support/provider-run.js'

interface Sent {
  readonly url: string
  readonly body: { readonly contents: readonly { readonly parts: readonly unknown[] }[]; readonly tools?: readonly unknown[] } & Readonly<
    Record<string, unknown>
  >
}

/** What a server is sent that first refuses with these words, each once. */
async function sent(options: object, messages?: readonly RequestMessage[], refusals: readonly string[] = [], tools: readonly Tool[] = []): Promise<Sent[]> {
  const list: Sent[] = []
  const waiting = [...refusals]
  const { fetch: answer } = answering([stream(chunk([{ text: 'x' }], 'STOP'))])
  const fetch: typeof globalThis.fetch = async (url, init) => {
    list.push({ url: String(url), body: JSON.parse(String(init?.body)) })
    const refusal = waiting.shift()
    if (refusal !== undefined) throw new ProviderError('rejected', refusal)
    return answer(url)
  }
  const provider = google({ ...options } as unknown as Settings, { fetch, key: 'k', baseUrl: undefined })
  for (const _ of [1, 2]) await collect(provider.respond(requestOf(messages, tools), new AbortController().signal))
  return list
}

const config = async (options: object) => (await sent(options))[0]?.body.generationConfig
const user = (...blocks: readonly UserBlock[]): RequestMessage => ({ role: 'user', blocks })
const model = (...blocks: readonly ModelBlock[]): RequestMessage => ({ role: 'assistant', blocks })
const result = (id: string, rest: object = {}): UserBlock => ({ kind: 'result', id, name: 'Do', output: 'done', failed: false, ...rest })
const call = (id: string, rest: object = {}): ModelBlock => ({ kind: 'call', id, name: 'Do', input: '{}', ...rest })
const IMAGE = { data: 'AAAA', type: 'image/png' }

t.test('where it is sent, and the options', async (t) => {
  t.match(await sent({}), [{ url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse' }, {}])
  t.same(await config({ model: 'gemini-4-argon' }), { thinkingConfig: { includeThoughts: true } })
  t.same(await config({ 'max-tokens': 9, temperature: '0.5', effort: 'low' }), {
    temperature: 0.5,
    maxOutputTokens: 9,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
  })
  const thinking = async (name: string, options: object) => ((await config({ model: name, ...options })) as { thinkingConfig: object }).thinkingConfig
  t.same(await thinking('gemini-3-flash', { thinking: 'off' }), { thinkingLevel: 'MINIMAL' })
  t.same(await thinking('gemini-4-argon', { thinking: '0' }), { thinkingLevel: 'LOW' })
  t.same(await thinking('gemini-2.5-pro', { thinking: 'off' }), { thinkingBudget: 0 })
  t.same(await thinking('gemini-2.5-pro', { thinking: '2000' }), { includeThoughts: true, thinkingBudget: 2000 })
  t.same(await thinking('gemini-2.5-pro', { thinking: 'adaptive' }), { includeThoughts: true, thinkingBudget: -1 })
  t.same(await thinking('gemini-2.5-pro', { effort: 'medium' }), { includeThoughts: true, thinkingBudget: 8192 })
  t.same(await thinking('gemini-3-pro', { thinking: 'adaptive', effort: 'high' }), { includeThoughts: true, thinkingLevel: 'HIGH' })
  t.same(await config({ model: 'models/gemini-2.0-flash' }), {})
})

t.test('options that the API does not take are refused at once', (t) => {
  for (const [options, said] of [
    [{ thinking: 'lots' }, /--thinking "lots"/],
    [{ thinking: '2000', effort: 'low' }, /--thinking 2000 does not go together with --effort/],
    [{ thinking: '2000', model: 'gemini-4-argon' }, /gemini-4-argon takes no number of tokens/],
    [{ thinking: '2000', 'max-tokens': 2000 }, /leaves nothing for an answer/],
    [{ effort: 'extreme' }, /--effort "extreme": Google's models know minimal, low/],
    [{ effort: 'toString' }, /--effort/],
    [{ temperature: '3' }, /--temperature "3"/],
    [{ temperature: ' ' }, /--temperature/],
    [{ model: '../x?y' }, /--model/],
  ] as const) {
    t.throws(() => google(options as unknown as Settings, answering([])), { status: 64, message: said })
  }
  t.end()
})

t.test('a model that can not think is asked once without, and that is remembered', async (t) => {
  const refusal = 'Unable to submit request because thinking is not supported by this model.'
  const [first, second, third, ...more] = await sent({ model: 'm' }, undefined, [refusal])
  t.same(first?.body.generationConfig, { thinkingConfig: { includeThoughts: true } })
  t.same([second?.body.generationConfig, third?.body.generationConfig, more], [{}, {}, []])
  t.equal((await sent({ model: 'm', effort: 'low' }, undefined, [refusal, refusal])).length, 2, 'what was asked for is not left out')
})

t.test('parts', async (t) => {
  const messages = [
    user({ kind: 'text', text: 'go' }, { kind: 'image', image: IMAGE }),
    model(
      { kind: 'thinking', text: 'hm' },
      { kind: 'thinking', text: 'hm', opaque: 'reasoning_content' },
      { kind: 'thinking', text: 'signed', opaque: 'QQ==' },
      { kind: 'text', text: 'Hi.' },
      { kind: 'thinking', text: '', opaque: 'Qg==' },
      call('a', { opaque: 'Qw==', input: '{"x":[1]}' }),
      call('b', { opaque: '[{"type":"reasoning"}]' }),
    ),
    user(result('a', { image: IMAGE }), result('b', { failed: true }), { kind: 'text', text: 'and' }),
    model({ kind: 'text', text: 'Done.', opaque: 'RA==' }),
    user({ kind: 'text', text: 'on' }),
  ]
  const contents = async (name: string) => (await sent({ model: name }, messages))[0]?.body.contents
  const inlineData = { data: 'AAAA', mimeType: 'image/png' }
  const said = [
    { text: 'signed', thought: true, thoughtSignature: 'QQ==' },
    { text: 'Hi.', thoughtSignature: 'Qg==' },
    { functionCall: { args: { x: [1] }, id: 'a', name: 'Do' }, thoughtSignature: 'Qw==' },
    { functionCall: { args: {}, id: 'b', name: 'Do' } },
  ]
  const done = { functionResponse: { id: 'a', name: 'Do', response: { output: 'done' } } }
  const failed = { functionResponse: { id: 'b', name: 'Do', response: { error: 'done' } } }
  t.same(await contents('gemini-3-pro'), [
    { parts: [{ text: 'go' }, { inlineData }], role: 'user' },
    { parts: said, role: 'model' },
    { parts: [{ functionResponse: { ...done.functionResponse, parts: [{ inlineData }] } }, failed, { text: 'and' }], role: 'user' },
    { parts: [{ text: 'Done.', thoughtSignature: 'RA==' }], role: 'model' },
    { parts: [{ text: 'on' }], role: 'user' },
  ])
  t.same((await contents('gemini-2.5-pro'))?.[2]?.parts, [done, failed, { text: 'The image that Do (a) has given:' }, { inlineData }, { text: 'and' }])
  const unsigned = [user({ kind: 'text', text: 'go' }), model(call('a'), call('b')), user(result('a'), result('b'))]
  const signatures = async (name: string) => {
    const parts = (await sent({ model: name }, unsigned))[0]?.body.contents[1]?.parts ?? []
    return parts.map((part) => (part as { thoughtSignature?: string }).thoughtSignature)
  }
  t.same(await signatures('gemini-3-pro'), ['skip_thought_signature_validator', undefined])
  t.same(await signatures('gemini-2.5-pro'), [undefined, undefined])
})

t.test('the signature of the last text of a message stays with it, thoughts behind it do not', (t) => {
  const thought = (text: string, opaque: string): Item => ({ kind: 'thinking', text, opaque, whole: true })
  const last = (model: string, ...said: readonly Item[]) => {
    const items: Item[] = [{ kind: 'user', text: 'go' }, { kind: 'text', text: 'x' }, ...said, { kind: 'response', model }, { kind: 'user', text: 'on' }]
    return requestMessages(items, 'm', () => {})[1]?.blocks
  }
  t.same(last('m', thought('', 'QQ==')), [{ kind: 'text', text: 'x', opaque: 'QQ==' }])
  t.same(last('m', thought('', 'QQ=='), thought('hm', 'Qg==')), [{ kind: 'text', text: 'x', opaque: 'QQ==' }])
  t.same(last('m', thought('hm', 'QQ==')), [{ kind: 'text', text: 'x' }])
  t.same(last('other', thought('', 'QQ==')), [{ kind: 'text', text: 'x' }])
  t.end()
})

t.test('tools', async (t) => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', additionalProperties: false }
  const tools = [
    { name: 'Do', description: 'does', schema },
    { name: 'D o', description: '', schema: { type: 'object', properties: { x: { type: ['string', 'null'] } } } },
  ]
  t.same((await sent({}, undefined, [], tools))[0]?.body.tools, [
    {
      functionDeclarations: [
        { name: 'Do', description: 'does', parametersJsonSchema: { properties: {}, ...schema, type: 'object' } },
        { name: 'D_o', parametersJsonSchema: { properties: { x: { type: ['string', 'null'] } }, type: 'object' } },
      ],
    },
  ])
})

t.test('an interrupted request throws', async (t) => {
  const abort = new AbortController()
  const provider = google({ model: 'm' } as unknown as Settings, answering([stream(chunk([{ text: 'x' }]))], false))
  const events = provider.respond(requestOf(), abort.signal)[Symbol.asyncIterator]()
  t.match(await events.next(), { value: { kind: 'text', text: 'x' } })
  await events.next()
  setTimeout(() => abort.abort(), 20)
  await t.rejects(events.next(), { name: 'AbortError' })
})
