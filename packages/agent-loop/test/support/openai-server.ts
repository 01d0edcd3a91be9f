import { type Answer, MockServer } from './mock-server.js'
import { chatFault } from './openai-faults.js'
import { data } from './provider-run.js'
import { responsesFault } from './responses-faults.js'

interface Test {
  teardown(work: () => unknown): void
}

/** What a model says in one response. */
export type Part =
  | { readonly text: string }
  | { readonly thinking: string; readonly id?: string }
  | { readonly call: string; readonly id: string; readonly input: string }

/** OpenAI's servers on this machine: they refuse what the real ones refuse. */
export async function openAiServer(t: Test, api: 'chat' | 'responses'): Promise<{ mock: MockServer; env: Record<string, string> }> {
  const reasoning = new Map<string, string>()
  const path = api === 'chat' ? '/v1/chat/completions' : '/v1/responses'
  const mock = await MockServer.start(t, {
    fault: (request) => {
      if (request.path !== path) return `Invalid URL (${request.method} ${request.path})`
      if (request.headers.authorization !== 'Bearer test') return 'Incorrect API key provided'
      return api === 'chat' ? chatFault(request.body) : responsesFault(request.body, reasoning)
    },
    refusal: (fault) => refused(400, fault),
    answered: ({ body = '' }) => learn(String(body), reasoning),
  })
  return {
    mock,
    env: {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      AGENTPIPE_RETRY_MS: '1',
      AGENTPIPE_AGENT_LOOP_PROVIDER: api === 'chat' ? 'openai' : 'openai-responses',
    },
  }
}

export function refused(status: number, message: string, type = 'invalid_request_error'): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { message, type, param: null, code: null } }) }
}

/** A response of chat completions that says these parts. */
export function chatSays(...parts: readonly Part[]): Answer {
  const delta = (value: object) => ({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: value, finish_reason: null }], usage: null })
  const chunks = parts.flatMap((part, at) => {
    if ('text' in part) return [delta({ content: part.text })]
    if ('thinking' in part) return [delta({ reasoning_content: part.thinking })]
    const call = { index: at, id: part.id, type: 'function', function: { name: part.call, arguments: '' } }
    return [delta({ tool_calls: [call] }), delta({ tool_calls: [{ index: at, function: { arguments: part.input } }] })]
  })
  const reason = parts.some((part) => 'call' in part) ? 'tool_calls' : 'stop'
  const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } } }
  return {
    body: data(
      delta({ role: 'assistant', content: '' }),
      ...chunks,
      { choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: null },
      usage,
      '[DONE]',
    ),
  }
}

/** A response of the Responses API that says these parts. */
export function responsesSays(...parts: readonly Part[]): Answer {
  return { body: events(...parts.flatMap(partEvents), { type: 'response.completed', response: { status: 'completed', usage: USAGE } }) }
}

export const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15, input_tokens_details: { cached_tokens: 4 } }

/** An event of the Responses API, as its data. */
export type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/** Events of the Responses API as a stream. */
export function events(...list: readonly Event[]): string {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** The events of one item of the output. */
export function partEvents(part: Part, output_index: number): Event[] {
  const item = itemOf(part)
  const deltas =
    'text' in part
      ? [{ type: 'response.output_text.delta', output_index, delta: part.text }]
      : 'thinking' in part
        ? [
            { type: 'response.reasoning_summary_part.added', output_index, summary_index: 0 },
            { type: 'response.reasoning_summary_text.delta', output_index, delta: part.thinking },
          ]
        : [{ type: 'response.function_call_arguments.delta', output_index, delta: part.input }]
  return [{ type: 'response.output_item.added', output_index, item: { type: item.type } }, ...deltas, { type: 'response.output_item.done', output_index, item }]
}

function itemOf(part: Part) {
  if ('text' in part) return { type: 'message', id: 'msg', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: part.text }] }
  if ('call' in part) return { type: 'function_call', id: 'fc', call_id: part.id, name: part.call, arguments: part.input, status: 'completed' }
  const { id = 'rs', thinking } = part
  return { type: 'reasoning', id, summary: [{ type: 'summary_text', text: thinking }], encrypted_content: `enc ${id} \u2028 ${thinking}`, status: null }
}

/** Remembers reasoning items as they have to come back: without status. */
function learn(body: string, reasoning: Map<string, string>): void {
  for (const line of body.split('\n').filter((each) => each.startsWith('data: {"type":"response.output_item.done"'))) {
    const { item } = JSON.parse(line.slice(6))
    const { status: _, ...kept } = item
    if (item.type === 'reasoning') reasoning.set(item.id, JSON.stringify(kept))
  }
}
