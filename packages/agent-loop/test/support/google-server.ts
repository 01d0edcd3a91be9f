import { callKey, googleFault } from './google-faults.js'
import { type Answer, MockServer } from './mock-server.js'

interface Test {
  teardown(work: () => unknown): void
}

/** What a model says in one response. A signature comes on the part of a call, and behind a text. */
export type Part =
  | { readonly text: string; readonly signature?: string }
  | { readonly thinking: string }
  | { readonly call: string; readonly args?: unknown; readonly id?: string; readonly signature?: string }

/** Gemini's server on this machine: it refuses what the real one refuses. */
export async function googleServer(t: Test): Promise<{ mock: MockServer; env: Record<string, string> }> {
  const signatures = new Map<string, string>()
  const mock = await MockServer.start(t, {
    fault: ({ path, headers, body }) => {
      if (!/^\/v1beta\/models\/[\w.-]+:streamGenerateContent\?alt=sse$/.test(path)) return `no such path: ${path}`
      if (headers['x-goog-api-key'] !== 'test') return 'API key not valid. Please pass a valid API key.'
      return googleFault(body, signatures)
    },
    refusal: (fault) => refused(400, fault, 'INVALID_ARGUMENT'),
    answered: ({ body = '' }) => learn(String(body), signatures),
  })
  const env = { GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: mock.url, AGENTPIPE_RETRY_MS: '1', AGENTPIPE_AGENT_LOOP_PROVIDER: 'google' }
  return { mock, env }
}

/** An error as the API gives it. */
export function refused(code: number, message: string, status: string, details: readonly object[] = []): Answer {
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { code, message, status, details } }, null, 2) }
}

export const badKey = refused(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [{ reason: 'API_KEY_INVALID' }])

/** Too many requests by the minute; the API speaks of quota and billing all the same. */
export function perMinute(retryDelay: string): Answer {
  return tooMany('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', retryDelay)
}

/** Too many requests by the day: the API gives a delay that is of no use. */
export function perDay(retryDelay: string): Answer {
  return tooMany('GenerateRequestsPerDayPerProjectPerModel-FreeTier', retryDelay)
}

function tooMany(quotaId: string, retryDelay: string): Answer {
  return refused(429, 'You exceeded your current quota, please check your plan and billing details.', 'RESOURCE_EXHAUSTED', [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId, quotaValue: '15' }] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ])
}

export const USAGE = { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 15 }

/** A chunk of a stream with these parts, as the API has them. */
export function chunk(parts: readonly object[], finishReason?: string): object {
  const candidate = { content: { parts, role: 'model' }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 }
  return { candidates: [candidate], usageMetadata: { ...USAGE, candidatesTokenCount: finishReason === undefined ? 1 : 3 }, modelVersion: 'm' }
}

/** Chunks as a stream. The real one has CRLF. */
export function stream(...chunks: readonly object[]): string {
  return chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('')
}

/** A response that says these parts, a text in two pieces. */
export function says(...parts: readonly Part[]): Answer {
  return { body: stream(...parts.flatMap(partChunks), chunk([], 'STOP')) }
}

function partChunks(part: Part): object[] {
  if ('thinking' in part) return [chunk([{ text: part.thinking, thought: true }])]
  const signed = part.signature === undefined ? {} : { thoughtSignature: part.signature }
  if ('call' in part) {
    const { call: name, args = {}, id } = part
    return [chunk([{ functionCall: { name, args, ...(id === undefined ? {} : { id }) }, ...signed }])]
  }
  const end = part.signature === undefined ? [] : [chunk([{ text: '', ...signed }])]
  return [chunk([{ text: part.text.slice(0, 2) }]), ...(part.text.length > 2 ? [chunk([{ text: part.text.slice(2) }])] : []), ...end]
}

/** Remembers which part has which signature. */
function learn(body: string, signatures: Map<string, string>): void {
  let text = ''
  for (const line of body.split('\r\n').filter((each) => each.startsWith('data: {"candidates"'))) {
    for (const part of JSON.parse(line.slice(6)).candidates[0].content?.parts ?? []) {
      if (part.functionCall !== undefined && part.thoughtSignature !== undefined) signatures.set(callKey(part.functionCall), part.thoughtSignature)
      if (part.text !== undefined && part.thought === undefined) text += part.text
      else text = ''
      if (part.text === '' && text !== '') signatures.set(`text ${text}`, part.thoughtSignature)
    }
  }
}
