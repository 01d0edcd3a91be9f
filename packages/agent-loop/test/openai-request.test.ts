import t from 'tap'
import type { Settings } from '../src/options.js'
import { ProviderError, type ProviderFailure } from '../src/provider.js'
import { openai } from '../src/providers/openai.js'
import { openaiResponses } from '../src/providers/openai-responses.js'
import type { ModelBlock, RequestMessage } from '../src/request-messages.js'
import { TransportFailure } from '../src/transport-failure.js'
import { answering, collect, data, requestOf } from './support/provider-run.js'

const ANSWER = [data({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] }, '[DONE]')]

type Body = Readonly<Record<string, unknown>> & { readonly messages: readonly Readonly<Record<string, unknown>>[] }

/** The bodies that a server is sent which first refuses with these words, each once. */
async function bodies(
  baseUrl: string,
  options: object,
  messages?: readonly RequestMessage[],
  refusals: readonly string[] = [],
  make = openai,
  requests = 1,
): Promise<Body[]> {
  const sent: Body[] = []
  const waiting = [...refusals]
  const { fetch: answer } = answering(ANSWER)
  const fetch: typeof globalThis.fetch = async (url, init) => {
    sent.push(JSON.parse(String(init?.body)))
    const refusal = waiting.shift()
    if (refusal !== undefined) throw new ProviderError('rejected', refusal)
    return answer(url)
  }
  const provider = make({ model: 'm', ...options } as unknown as Settings, { fetch, key: 'k', baseUrl })
  for (let request = 0; request < requests; request++) await collect(provider.respond(requestOf(messages), new AbortController().signal))
  return sent
}

const LOCAL = 'http://localhost:11434/v1'
const user = (text: string): RequestMessage => ({ role: 'user', blocks: [{ kind: 'text', text }] })
const model = (...blocks: readonly ModelBlock[]): RequestMessage => ({ role: 'assistant', blocks })
const call = (id: string): ModelBlock => ({ kind: 'call', id, name: 'Do', input: '{}' })
const result = (id: string): RequestMessage => ({ role: 'user', blocks: [{ kind: 'result', id, name: 'Do', output: 'done', failed: false }] })

t.test('what each server takes', async (t) => {
  const [local] = await bodies(LOCAL, { 'max-tokens': 9, effort: 'low', temperature: '0.5' })
  t.match(local, { max_tokens: 9, reasoning_effort: 'low', temperature: 0.5, stream_options: { include_usage: true } })
  t.notOk('prompt_cache_key' in (local as Body))
  t.match(await bodies('https://api.openai.com/v1', { 'max-tokens': 9, session: 's' }), [{ max_completion_tokens: 9, prompt_cache_key: 's' }])
  t.match(await bodies('https://openrouter.ai/api/v1', { thinking: '2000' }), [{ reasoning: { max_tokens: 2000 } }])
  t.match(await bodies('https://openrouter.ai/api/v1', { effort: 'high' }), [{ reasoning: { effort: 'high' } }])
  t.match(await bodies('https://api.deepseek.com', { thinking: 'off' }), [{ thinking: { type: 'disabled' } }])
  t.match(await bodies(LOCAL, { thinking: 'off' }), [{ reasoning_effort: 'none' }])
})

t.test('options that no server takes are refused at once', (t) => {
  for (const [options, said] of [
    [{ thinking: '2000' }, /--thinking 2000/],
    [{ thinking: 'lots' }, /--thinking "lots"/],
    [{ temperature: '3' }, /--temperature "3"/],
    [{ temperature: ' ' }, /--temperature/],
    [{ model: undefined }, /--model M/],
  ] as const) {
    t.throws(() => openai({ model: 'm', ...options } as unknown as Settings, { ...answering([]), baseUrl: LOCAL }), { status: 64, message: said })
  }
  t.throws(() => openai({ model: 'm' } as unknown as Settings, { ...answering([]), baseUrl: 'localhost' }), {
    status: 64,
    message: /--base-url "localhost" is no URL/,
  })
  t.end()
})

t.test('reasoning goes back by the name under which it came', async (t) => {
  const thought = (opaque?: string): ModelBlock => ({ kind: 'thinking', text: 'hm', ...(opaque === undefined ? {} : { opaque }) })
  const details = '[{"type":"reasoning.text","text":"hm","signature":"s"}]'
  const sent = async (...blocks: readonly ModelBlock[]) => (await bodies(LOCAL, {}, [user('go'), model(...blocks, call('a')), result('a')]))[0]?.messages[1]
  t.match(await sent(thought('reasoning_content')), { reasoning_content: 'hm', content: null })
  t.match(await sent(thought('reasoning')), { reasoning: 'hm' })
  t.same((await sent(thought(details), thought(details)))?.reasoning_details, [...JSON.parse(details), ...JSON.parse(details)])
  for (const opaque of [undefined, '[{"type":"reasoning","id":"rs_1"}]', '[', 'toString']) {
    t.same(Object.keys((await sent(thought(opaque))) ?? {}), ['role', 'content', 'tool_calls'], String(opaque))
  }
})

t.test('what a server refuses is done otherwise, and remembered', async (t) => {
  const messages = [user('go'), model({ kind: 'thinking', text: 'hm', opaque: 'reasoning_content' }, call('call_1')), result('call_1')]
  const learned = async (refusal: string, options: object = {}, make = openai) => {
    const [, second, third, ...more] = await bodies(LOCAL, options, messages, [refusal], make, 2)
    t.same(second, third, 'remembered')
    t.same(more, [])
    return second
  }
  t.notOk('stream_options' in ((await learned('Unrecognized request argument: stream_options')) as Body))
  t.match(await learned("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead", { 'max-tokens': 9 }), {
    max_completion_tokens: 9,
  })
  const [, omitted] = (await learned('messages.1.reasoning_content: Extra inputs are not permitted'))?.messages ?? []
  t.same(Object.keys(omitted ?? {}), ['role', 'content', 'tool_calls'])
  t.match((await learned('Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.'))?.messages, [
    {},
    { tool_calls: [{ id: /^[a-z0-9]{9}$/ }] },
    { tool_call_id: /^[a-z0-9]{9}$/ },
  ])
  t.notOk('include' in ((await learned('Encrypted content is not supported with this model.', {}, openaiResponses)) as Body))
  t.same((await learned('Your organization must be verified to generate reasoning summaries.', { effort: 'low' }, openaiResponses))?.reasoning, {
    effort: 'low',
  })
  const [, second] = await bodies(
    LOCAL,
    {},
    [user('go'), model({ kind: 'text', text: 'x' }), user('on')],
    ['The reasoning_content in the thinking mode must be passed back to the API.'],
  )
  t.match(second?.messages[1], { reasoning_content: '' })
})

t.test('a refusal that nothing can be done about comes through once', async (t) => {
  for (const [failure, thrown] of [
    ['rejected', 'rejected'],
    ['key', 'key'],
    ['too_long', 'too_long'],
  ] as const) {
    const fetch = async () => {
      throw new TransportFailure(new ProviderError(failure as ProviderFailure, 'timed out: max_tokens is too large'))
    }
    const provider = openai({ model: 'm' } as unknown as Settings, { fetch, key: undefined, baseUrl: LOCAL })
    t.equal((await collect(provider.respond(requestOf(), new AbortController().signal))).error, `${thrown}: timed out: max_tokens is too large`)
  }
  t.match(await bodies(LOCAL, {}, undefined, ["This model's maximum context length is 4096 tokens"]), { length: 1 })
})

t.test('an interrupted request throws, and nothing is asked again', async (t) => {
  const abort = new AbortController()
  const provider = openai({ model: 'm' } as unknown as Settings, answering([data({ choices: [{ delta: { content: 'x' } }] })], false))
  const events = provider.respond(requestOf(), abort.signal)[Symbol.asyncIterator]()
  t.match(await events.next(), { value: { kind: 'text', text: 'x' } })
  setTimeout(() => abort.abort(), 20)
  await t.rejects(events.next(), { name: 'AbortError' })
})
