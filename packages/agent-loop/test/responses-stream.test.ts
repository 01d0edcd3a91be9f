import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { openaiResponses } from '../src/providers/openai-responses.js'
import { openAiSettings } from '../src/providers/openai-settings.js'
import { responsesRequest } from '../src/providers/responses-request.js'
import { ResponsesStream } from '../src/providers/responses-stream.js'
import type { RequestMessage } from '../src/request-messages.js'
import { type Event, events, type Part, partEvents, responsesSays, USAGE } from './support/openai-server.js'
import { answering, data, type Given, given, read, requestOf, SETTINGS } from './support/provider-run.js'

const take = (...list: readonly Event[]): Promise<Given> => given(openaiResponses, answering([events(...list)], false))
const ended = (type: string, rest: object = {}): Event => ({ type: `response.${type}`, response: { status: type, usage: USAGE, ...rest } })
const said = (...parts: readonly Part[]) => parts.flatMap(partEvents)

t.test('a response: what was thought stays with what followed it', async (t) => {
  const parts: Part[] = [
    { thinking: 'a', id: 'r1' },
    { text: 'Hi.' },
    { thinking: 'b', id: 'r2' },
    { call: 'A', id: 'c1', input: '{"x":1}' },
    { call: 'B', id: 'c2', input: '' },
  ]
  const result = await take(...said(...parts), ended('completed'))
  t.match(result, { text: 'Hi.', thinking: 'ab', usage: [6, 5, 4, 0], end: 'calls', error: undefined })
  t.match(JSON.parse(result.opaque[0] as string), [{ type: 'reasoning', id: 'r1', encrypted_content: /^enc r1 \u2028/ }])
  t.notOk('status' in JSON.parse(result.opaque[0] as string)[0])
  t.match(result.calls, [
    { id: 'c1', name: 'A', input: '{"x":1}' },
    { id: 'c2', input: '{}' },
  ])
  t.match(JSON.parse(result.calls[0]?.opaque as string), [{ id: 'r2' }])
  t.equal(result.calls[1]?.opaque, undefined)
})

t.test('ends', async (t) => {
  const text = said({ text: 'x' })
  t.match(await take(...text, ended('completed')), { end: 'end_turn', text: 'x' })
  t.match(await take(...text, ended('incomplete', { incomplete_details: { reason: 'max_output_tokens' } })), { end: 'max_tokens', usage: [6, 5, 4, 0] })
  t.match(await take(...text, ended('incomplete', { incomplete_details: { reason: 'content_filter' } })), { end: 'refusal' })
  t.match(await take({ type: 'response.refusal.delta', delta: 'No.' }, ended('completed')), { text: 'No.', end: 'refusal' })
  t.match(await take(ended('completed')), { text: '', end: 'end_turn' })
})

t.test('29: failures inside of the stream', async (t) => {
  const text = said({ text: 'x' })
  t.match(await take(...text, ended('failed', { error: { code: 'rate_limit_exceeded', message: 'slow' } })), {
    text: 'x',
    end: undefined,
    error: /^busy: the model server says: slow/,
  })
  t.match(await take(ended('failed', { error: { code: 'server_error', message: 'oops' } })), { error: /^unreachable: .*oops/ })
  t.match(await take({ type: 'error', code: 'context_length_exceeded', message: 'Your input exceeds the context window' }), { error: /^too_long: / })
  t.match(await take({ type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }), { error: /^rejected: / })
  t.match(await given(openaiResponses, answering(['data: <html>\n\n'])), { error: /^unreachable: .*<html>/ })
})

t.test('servers that leave out deltas or items', async (t) => {
  const done = (part: Part) => partEvents(part, 0).at(-1) as Event
  t.match(await take(done({ text: 'Hi.' }), ended('completed')), { text: 'Hi.', end: 'end_turn' })
  const output = [
    { type: 'message', content: [{ type: 'output_text', text: 'Hi.' }] },
    { type: 'function_call', call_id: 'a', name: 'A', arguments: { p: 1 } },
  ]
  t.match(await take(ended('completed', { output })), { text: 'Hi.', end: 'calls', calls: [{ id: 'a', input: '{"p":1}' }] })
  t.match(await take(...said({ text: 'Hi.' }), ended('completed', { output })), { text: 'Hi.', calls: [{ id: 'a' }] }, 'text once')
  t.match(await take(...said({ text: 'Hi.' }), { type: 'response.something.new', item: null }, ended('completed')), { text: 'Hi.', error: undefined })
})

t.test('28: cut at every byte, split at every byte', async (t) => {
  const stream = Buffer.from(responsesSays({ thinking: 'ü' }, { text: 'I\u2028do.' }, { call: 'A', id: 'a', input: '{"x":"é"}' }).body as string)
  const whole = await read(new ResponsesStream(), [stream])
  t.match(whole, { text: 'I\u2028do.', end: 'calls', error: undefined })
  const ending = stream.length - 2
  for (const [head, tail] of everyCut(stream)) {
    if (JSON.stringify(await read(new ResponsesStream(), [head, tail])) !== JSON.stringify(whole)) t.fail(`split at ${head.length}`)
    const cut = await read(new ResponsesStream(), [head])
    if ((cut.end === 'calls') !== head.length >= ending || (cut.error === undefined) !== head.length >= ending) t.fail(`cut at ${head.length}`)
    if (head.length < ending && !/^cut: /.test(cut.error ?? '')) t.fail(`cut at ${head.length}: ${cut.error}`)
  }
  t.match(await given(openaiResponses, answering([data('[DONE]')])), { error: /^cut: / })
})

t.test('the phase of a message goes back with it', async (t) => {
  const added = { type: 'response.output_item.added', output_index: 1, item: { type: 'message', phase: 'commentary' } }
  const { opaque } = await take(...partEvents({ thinking: 'a' }, 0), added, ...partEvents({ text: 'x' }, 1), ended('completed'))
  const messages: RequestMessage[] = [
    { role: 'user', blocks: [{ kind: 'text', text: 'go' }] },
    {
      role: 'assistant',
      blocks: [
        { kind: 'thinking', text: '', opaque: opaque[0] as string },
        { kind: 'text', text: 'x' },
      ],
    },
    { role: 'user', blocks: [{ kind: 'text', text: 'on' }] },
  ]
  const { input } = responsesRequest(requestOf(messages), openAiSettings(SETTINGS, undefined), { summary: true, encrypted: true })
  t.match(input, [{ role: 'user', content: 'go' }, { type: 'reasoning', id: 'rs' }, { role: 'assistant', content: 'x', phase: 'commentary' }, {}])
})

t.test('what is no reasoning of this API is left out', (t) => {
  const thinking = ['reasoning', '[{"type":"reasoning.text","text":"a"}]', '[{"type":"reasoning","id":"r","summary":[]}]', '[nonsense', '{}']
  const blocks = [...thinking.map((opaque) => ({ kind: 'thinking' as const, text: 'a', opaque })), { kind: 'text' as const, text: 'x' }]
  const { input } = responsesRequest(requestOf([{ role: 'assistant', blocks }]), openAiSettings(SETTINGS, undefined), {
    summary: true,
    encrypted: true,
  })
  t.same(input, [{ role: 'assistant', content: 'x' }])
  t.end()
})
