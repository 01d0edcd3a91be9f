/** What is wrong with a request for chat completions, in the words of the API; undefined for nothing. */
export function chatFault(body: string): string | undefined {
  const request = JSON.parse(body)
  const faults = [
    ...paramFaults(request),
    ...toolFaults(request.tools?.map((tool: { function: unknown }) => tool.function)),
    ...messageFaults(request.messages),
  ]
  return faults[0]
}

type Loose = Readonly<Record<string, unknown>>

const PARAMS = /^(model|stream|stream_options|max_completion_tokens|temperature|reasoning_effort|prompt_cache_key|tools|messages)$/
const NAME = /^[A-Za-z0-9_-]{1,64}$/

function* paramFaults(request: Loose): Generator<string> {
  for (const name of Object.keys(request)) {
    if (name === 'max_tokens') yield "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    else if (!PARAMS.test(name)) yield `Unrecognized request argument supplied: ${name}`
  }
  if (typeof request.model !== 'string' || request.model === '') yield 'you must provide a model parameter'
  if (request.stream !== true) yield 'stream: expected true'
  if (!Array.isArray(request.messages) || request.messages.length === 0) yield 'messages: empty array'
}

/** Tools, as both APIs describe them. */
export function* toolFaults(tools: unknown): Generator<string> {
  if (tools === undefined) return
  if (!Array.isArray(tools) || tools.length === 0) yield 'tools: empty array'
  for (const tool of tools as Loose[]) {
    if (!NAME.test(String(tool.name))) yield `tools: name does not match the pattern: ${tool.name}`
    const { type, properties } = tool.parameters as Loose
    if (type !== 'object' || typeof properties !== 'object') yield 'Invalid schema for function: object schema missing properties'
  }
}

function* messageFaults(messages: readonly Loose[]): Generator<string> {
  const seen = new Set<unknown>()
  let waiting: unknown[] = []
  for (const [at, message] of messages.entries()) {
    const place = `messages[${at}]`
    if (waiting.length > 0 && message.role !== 'tool')
      yield `${place}: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'`
    if (message.role === 'tool') {
      if (waiting[0] !== message.tool_call_id) yield `${place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`
      waiting = waiting.slice(1)
      if (typeof message.content !== 'string' || message.content === '') yield `${place}: content must be a non-empty string`
    } else if (message.role === 'assistant') {
      const calls = (message.tool_calls ?? []) as Loose[]
      yield* callFaults(calls, seen, place)
      waiting = calls.map(({ id }) => id)
      if (message.content === null ? calls.length === 0 : typeof message.content !== 'string' || message.content === '') yield `${place}: no content`
      if ('tool_calls' in message && calls.length === 0) yield `${place}: tool_calls: empty array`
    } else if (message.role === 'user' || message.role === 'system') {
      if (message.role === 'system' && at > 0) yield `${place}: the system message is not the first`
      yield* contentFaults(message.content, place)
    } else yield `${place}: invalid role ${message.role}`
  }
  if (waiting.length > 0) yield 'tool_calls without results at the end'
}

function* callFaults(calls: readonly Loose[], seen: Set<unknown>, place: string): Generator<string> {
  for (const { id, type, function: called } of calls) {
    const { name, arguments: given } = called as Loose
    if (seen.has(id) || typeof id !== 'string' || id === '') yield `${place}: duplicate or missing id ${id}`
    seen.add(id)
    if (type !== 'function') yield `${place}: tool_calls: type`
    if (!NAME.test(String(name))) yield `${place}: tool_calls: name does not match the pattern`
    if (typeof given !== 'string') yield `${place}: arguments: expected a string`
    else if (!isObject(JSON.parse(given))) yield `${place}: arguments: no object`
  }
}

function* contentFaults(content: unknown, place: string): Generator<string> {
  if (typeof content === 'string' ? content.trim() === '' : !Array.isArray(content) || content.length === 0) yield `${place}: empty content`
  for (const part of Array.isArray(content) ? content : []) {
    if (part.type === 'text' ? !part.text : !/^data:image\/(png|jpeg|gif|webp);base64,./.test(part.image_url?.url)) yield `${place}: invalid part`
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
