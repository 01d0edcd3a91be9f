import { everyCut } from '@agentpipe/testing'
import t from 'tap'
import { google } from '../src/providers/google.js'
import { GoogleStream } from '../src/providers/google-stream.js'
import { chunk, says, stream, USAGE } from './support/google-server.js'
import { answering, type Given, given, read } from './support/provider-run.js'

/** What a stream comes to that does not end. */
const take = (...chunks: readonly object[]): Promise<Given> => given(google, answering([stream(...chunks)], false))
const text = chunk([{ text: 'x' }])
const call = (name: string, rest: object = {}) => chunk([{ functionCall: { name, args: { p: 1 } }, ...rest }])
const reader = () => new GoogleStream(new Map())

t.test('a response: signatures stay with what they are on', async (t) => {
  const parts = [
    chunk([{ text: 'a', thought: true }]),
    chunk([{ text: 'b', thought: true, thoughtSignature: 'VA==' }]),
    chunk([{ text: 'Hi' }, { text: '.', thoughtSignature: 'WA==' }]),
    chunk([{ functionCall: { name: 'A', args: { x: 1 }, id: 'c1' }, thoughtSignature: 'WQ==' }, { functionCall: { name: 'B' } }]),
  ]
  t.match(await take(...parts, chunk([], 'STOP')), {
    text: 'Hi.',
    thinking: 'ab',
    opaque: ['VA==', 'WA=='],
    usage: [6, 5, 4, 0],
    end: 'calls',
    error: undefined,
    calls: [
      { id: 'c1', name: 'A', input: '{"x":1}', opaque: 'WQ==' },
      { id: '', name: 'B', input: '{}', opaque: undefined },
    ],
  })
})

t.test('signatures alone belong to the text in front of them, or to nothing', async (t) => {
  const alone = chunk([{ text: '', thoughtSignature: 'QQ==' }], 'STOP')
  t.match(await take(text, alone), { text: 'x', opaque: ['QQ=='], end: 'end_turn' })
  t.match(await take(alone), { opaque: [], end: 'end_turn' })
  t.match(await take(chunk([{ text: 'a', thought: true }]), alone), { opaque: [] })
  t.match(await take(text, call('A'), alone), { opaque: [], calls: [{ name: 'A' }], end: 'calls' })
})

t.test('ends, at once, though the connection stays open', async (t) => {
  const ends = async (reason: string, ...before: readonly object[]) => (await take(text, ...before, chunk([{ text: 'y' }], reason))).end
  t.equal(await ends('STOP'), 'end_turn')
  t.equal(await ends('STOP', call('A')), 'calls')
  t.equal(await ends('MAX_TOKENS', call('A')), 'max_tokens')
  t.equal(await ends('CONTINUATION'), 'max_tokens')
  for (const reason of ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'LANGUAGE', 'OTHER', 'something new', 'toString']) {
    t.equal(await ends(reason), 'refusal', reason)
  }
  t.match(await take({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: USAGE }), { text: '', end: 'refusal', usage: [6, 5, 4, 0] })
  t.match(await take(chunk([{ text: 'a' }], 'FINISH_REASON_UNSPECIFIED'), chunk([{ text: 'b' }], 'STOP')), { text: 'ab' })
})

t.test('a call that the server could not read is one that is not made', async (t) => {
  for (const reason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']) {
    const { calls, end } = await take(text, call('A'), chunk([], reason))
    t.same({ calls, end }, { calls: [{ kind: 'call', id: '', name: 'a tool', input: reason }], end: 'calls' })
  }
  t.match(await take(text, chunk([], 'MALFORMED_RESPONSE')), { text: 'x', end: undefined, error: /^cut: / })
})

t.test('usage', async (t) => {
  const usage = async (usageMetadata: object) => (await take({ candidates: [{ finishReason: 'STOP' }], usageMetadata })).usage
  t.same(await usage({ promptTokenCount: 10, candidatesTokenCount: 5 }), [10, 5, 0, 0])
  t.same(await usage({ promptTokenCount: 10, toolUsePromptTokenCount: 7, thoughtsTokenCount: 2, cachedContentTokenCount: 9 }), [8, 2, 9, 0])
  t.same(await usage({ totalTokenCount: 'x' }), [])
  t.match((await read(reader(), [Buffer.from(stream(text))])).usage, [6, 3, 4, 0], 'of a response that was cut')
})

t.test('29: errors inside of the stream', async (t) => {
  const error = async (code: number, status: string | undefined, message: string, details: readonly object[] = []) =>
    (await take(text, { error: { code, message, ...(status === undefined ? {} : { status }), details } })).error
  t.equal(await error(503, 'UNAVAILABLE', 'The model is overloaded.'), 'busy: the model server says: The model is overloaded. (UNAVAILABLE)')
  t.match(await error(503, undefined, 'x'), /^busy: .*UNAVAILABLE/)
  t.match(await error(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted'), /^busy: /)
  t.match(await error(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', [{ quotaId: 'RequestsPerDay' }, { retryDelay: '9s' }]), /^quota: /)
  t.match(await error(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', [{ quotaId: 'RequestsPerMinute' }, { retryDelay: '9s' }]), /^busy: /)
  t.match(await error(403, 'PERMISSION_DENIED', 'x'), /^key: /)
  t.match(await error(400, 'INVALID_ARGUMENT', 'x', [{ reason: 'API_KEY_INVALID' }]), /^key: /)
  t.match(await error(400, 'INVALID_ARGUMENT', 'x'), /^rejected: /)
  t.match(await error(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum number of tokens allowed (8).'), /^too_long: /)
  t.match(await error(504, 'DEADLINE_EXCEEDED', 'x'), /^unreachable: /)
  t.match(await given(google, answering(['data: {"error":"words"}\n\n'])), { error: /^unreachable: .*words/ })
  t.match(await given(google, answering(['data: <html>\n\n'])), { error: /^unreachable: .*<html>/ })
  t.match(await given(google, answering(['data: [{"error":{"code":503,"message":"m"}}]\n\n'])), { error: /^busy: / })
})

t.test('29: an error that is no event', async (t) => {
  const bare = JSON.stringify({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }, null, 2)
  for (const [head, tail] of everyCut(Buffer.from(`${stream(text)}${bare}\n`))) {
    const { text: said, error } = await read(reader(), [head, tail])
    if (said !== 'x' || !error?.startsWith('busy: ')) t.fail(`split at ${head.length}: ${error}`)
  }
  t.match(await read(reader(), [Buffer.from(`[${bare}\n]`)]), { error: /^busy: / })
})

t.test('28: cut at every byte, split at every byte', async (t) => {
  const body = says({ thinking: 'ü' }, { text: 'I\u2028do.', signature: 'QQ==' }, { call: 'A', args: { x: 'é' }, signature: 'Qg==' }).body as string
  const bytes = Buffer.from(body)
  const whole = await read(reader(), [bytes])
  t.match(whole, { text: 'I\u2028do.', thinking: 'ü', opaque: ['QQ=='], calls: [{ input: '{"x":"é"}', opaque: 'Qg==' }], end: 'calls', error: undefined })
  const ending = bytes.length - 4
  for (const [head, tail] of everyCut(bytes)) {
    if (JSON.stringify(await read(reader(), [head, tail])) !== JSON.stringify(whole)) t.fail(`split at ${head.length}`)
    const cut = await read(reader(), [head])
    if (
      head.length >= ending ? cut.end !== 'calls' || cut.error !== undefined : cut.end !== undefined || cut.calls.length > 0 || !/^cut: /.test(cut.error ?? '')
    )
      t.fail(`cut at ${head.length}: ${cut.end} ${cut.error}`)
  }
})

t.test('odd chunks: no crash, text once', async (t) => {
  const odd = [{}, { candidates: null }, { candidates: [null] }, { candidates: [{ content: { parts: [null, {}, { text: null }] } }] }, { usageMetadata: null }]
  t.match(await take(...odd, text, ...odd, chunk([], 'STOP')), { text: 'x', end: 'end_turn', error: undefined })
})
