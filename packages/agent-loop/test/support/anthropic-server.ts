import { anthropicFault } from './anthropic-faults.js'
import { type Answer, type MockRequest, MockServer } from './mock-server.js'

interface Test {
  teardown(work: () => unknown): void
}

/** An event of the stream, as its data. */
export type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/** What a model says in one response. */
export type Part =
  | { readonly text: string }
  | { readonly thinking: string; readonly signature: string }
  | { readonly redacted: string }
  | { readonly id: string; readonly name: string; readonly input: string }

/** Anthropic's API on this machine: it answers as `script` says and refuses what the real one refuses. */
export class AnthropicServer {
  readonly mock: MockServer
  /** The texts of thinking by their signatures, and redacted thinking: what the server knows as its own. */
  readonly signed: Map<string, string>

  private constructor(mock: MockServer, signed: Map<string, string>) {
    this.mock = mock
    this.signed = signed
  }

  static async start(t: Test, ...script: readonly Answer[]): Promise<AnthropicServer> {
    const signed = new Map<string, string>()
    const mock = await MockServer.start(t, {
      fault: (request) => requestFault(request, signed),
      refusal: (fault) => errorAnswer(400, 'invalid_request_error', fault),
      answered: ({ body = '' }) => learn(Buffer.from(body).toString(), signed),
    })
    mock.answer(...script)
    return new AnthropicServer(mock, signed)
  }

  /** What agent-loop needs to find it. */
  get env(): Readonly<Record<string, string>> {
    return { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: this.mock.url, AGENTPIPE_RETRY_MS: '1' }
  }

  /** The messages of each request. */
  get asked(): { readonly role: string; readonly content: readonly Readonly<Record<string, unknown>>[] }[][] {
    return this.mock.bodies.map((body) => (body as { messages: never }).messages)
  }
}

/** The events as bytes of a stream. */
export function stream(...events: readonly Event[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** An answer that is refused, or failed, with the API's form of errors. */
export function errorAnswer(status: number, type: string, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' }),
  }
}

/** A whole response that says these parts. */
export function says(...parts: readonly Part[]): Answer {
  return { body: stream(...response(parts)) }
}

/** The events of a whole response. */
export function response(parts: readonly Part[], reason = parts.some((part) => 'id' in part) ? 'tool_use' : 'end_turn'): Event[] {
  return [
    { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: USAGE } },
    { type: 'ping' },
    ...parts.flatMap(partEvents),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ]
}

const USAGE = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 }

/** The events of one part, its text in two pieces. */
function partEvents(part: Part, index: number): Event[] {
  const block = (start: unknown, ...deltas: readonly unknown[]): Event[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
  if ('text' in part) return block({ type: 'text', text: '' }, ...halves(part.text).map((text) => ({ type: 'text_delta', text })))
  if ('redacted' in part) return block({ type: 'redacted_thinking', data: part.redacted })
  if ('thinking' in part) {
    const deltas = halves(part.thinking).map((thinking) => ({ type: 'thinking_delta', thinking }))
    return block({ type: 'thinking', thinking: '', signature: '' }, ...deltas, { type: 'signature_delta', signature: part.signature })
  }
  const { id, name, input } = part
  return block({ type: 'tool_use', id, name, input: {} }, ...['', ...halves(input)].map((partial_json) => ({ type: 'input_json_delta', partial_json })))
}

function halves(text: string): string[] {
  const characters = [...text]
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')].filter((half) => half !== '')
}

function requestFault({ method, path, headers, body }: MockRequest, signed: ReadonlyMap<string, string>): string | undefined {
  if (method !== 'POST' || path !== '/v1/messages') return `${method} ${path}: not found`
  if (headers['x-api-key'] === undefined && headers.authorization === undefined) return 'authentication is required'
  const version = headers['anthropic-version']
  if (version !== '2026-10-21' && version !== '2023-06-01') return `anthropic-version: ${version} is not a valid version`
  if (version === '2026-10-21' && 'temperature' in JSON.parse(body)) return 'temperature: Extra inputs are not permitted'
  if (headers['content-type'] !== 'application/json') return 'content-type: must be application/json'
  return anthropicFault(body, signed)
}

/** Remembers the signatures in a stream, with what they sign. */
function learn(body: string, signed: Map<string, string>): void {
  const texts = new Map<number, string>()
  for (const line of body.split('\n').filter((each) => each.startsWith('data: {"type":"content_block'))) {
    const { index, content_block: block, delta } = JSON.parse(line.slice(6))
    if (block?.type === 'redacted_thinking') signed.set(block.data, '')
    if (delta?.type === 'thinking_delta') texts.set(index, (texts.get(index) ?? '') + delta.thinking)
    if (delta?.type === 'signature_delta') signed.set(delta.signature, texts.get(index) ?? '')
  }
}
