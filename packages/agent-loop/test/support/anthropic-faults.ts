interface Block {
  readonly type?: string
  readonly [member: string]: unknown
}

interface Message {
  readonly role: string
  readonly content: readonly Block[]
}

const FIELDS = /^(model|max_tokens|stream|thinking|output_config|temperature|tools|tool_choice|system|messages|stop_sequences|metadata)$/
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const MEMBERS: Readonly<Record<string, RegExp>> = {
  text: /^(type|text|cache_control)$/,
  image: /^(type|source|cache_control)$/,
  tool_use: /^(type|id|name|input|cache_control)$/,
  tool_result: /^(type|tool_use_id|content|is_error|cache_control)$/,
  thinking: /^(type|thinking|signature)$/,
  redacted_thinking: /^(type|data)$/,
}

/** What Anthropic's API would refuse in the body of a request, in its words as far as we know them; undefined for nothing. `signed` are the
 * texts of thinking by their signatures, and the data of redacted thinking by itself, as they were handed out. */
export function anthropicFault(text: string, signed: ReadonlyMap<string, string>): string | undefined {
  if (/\\u(?:d[89a-f]..|0000)/i.test(text.replaceAll('\\\\', ''))) return 'The request body is not valid JSON: no low surrogate in string'
  const body = parse(text)
  if (body === undefined) return 'The request body is not valid JSON'
  const unknown = Object.keys(body).find((key) => !FIELDS.test(key))
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`
  if (typeof body.model !== 'string' || body.model === '') return 'model: Field required'
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1) return 'max_tokens: Field required'
  const marks = text.split('"cache_control":').length - 1
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`
  const messages = body.messages as readonly Message[]
  const faults = [...thinkingFaults(body), ...systemFaults(body.system), ...toolFaults(body, messages), ...messageFaults(messages, signed)]
  return faults[0]
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function* thinkingFaults(body: Readonly<Record<string, unknown>>): Generator<string> {
  const thinking = body.thinking as { type: string; budget_tokens: number } | undefined
  if (thinking?.type !== 'enabled') return
  if (thinking.budget_tokens < 1024) yield 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
  if (thinking.budget_tokens >= Number(body.max_tokens)) yield '`max_tokens` must be greater than `thinking.budget_tokens`'
  if (body.temperature !== undefined && body.temperature !== 1) yield '`temperature` may only be set to 1 when thinking is enabled'
  const last = (body.messages as readonly Message[]).findLast(({ role }) => role === 'assistant')
  const types = last?.content.map(({ type }) => type) ?? []
  if (types.includes('tool_use') && !/thinking$/.test(types[0] ?? '')) {
    yield 'Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block'
  }
}

function* systemFaults(system: unknown): Generator<string> {
  for (const { text } of (system ?? []) as readonly { text: string }[]) if (text.trim() === '') yield 'system: text content blocks must be non-empty'
}

function* toolFaults({ tools = [] }: Readonly<Record<string, unknown>>, messages: readonly Message[]): Generator<string> {
  const names = new Set<string>()
  for (const { name, input_schema } of tools as readonly { name: string; input_schema?: { type?: string } }[]) {
    if (!NAME.test(name)) yield `tools.${names.size}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`
    if (names.has(name)) yield 'tools: Tool names must be unique.'
    if (input_schema?.type !== 'object') yield `tools.${names.size}.custom.input_schema.type: Field required`
    names.add(name)
  }
  if (names.size === 0 && messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'))) {
    yield 'Requests which include `tool_use` or `tool_result` blocks must define tools'
  }
}

function* messageFaults(messages: readonly Message[], signed: ReadonlyMap<string, string>): Generator<string> {
  const ids = new Set<string>()
  if (messages[0] === undefined) yield 'messages: at least one message is required'
  if (messages[0]?.role !== 'user') yield 'messages: first message must use the "user" role'
  for (const [at, { role, content }] of messages.entries()) {
    const place = `messages.${at}`
    if (role !== 'user' && role !== 'assistant') yield `${place}.role: Unexpected value`
    if (role === messages[at - 1]?.role) yield `${place}: roles must alternate between "user" and "assistant"`
    if (content.length === 0) yield `${place}: all messages must have non-empty content`
    for (const [n, block] of content.entries()) for (const fault of blockFaults(block, role, signed)) yield `${place}.content.${n}: ${fault}`
    for (const { type, id } of content) {
      if (type === 'tool_use' && ids.has(id as string)) yield `${place}: \`tool_use\` ids must be unique`
      if (type === 'tool_use') ids.add(id as string)
    }
    yield* pairFaults(place, content, messages[at - 1]?.content ?? [])
    if (/thinking$/.test(role === 'assistant' ? (content.at(-1)?.type ?? '') : ''))
      yield `${place}: The final block in an assistant message cannot be \`thinking\`.`
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant') {
    const text = last.content.at(-1)?.text
    yield typeof text === 'string' && /\s$/.test(text)
      ? 'messages: final assistant content cannot end with trailing whitespace'
      : 'This model does not support assistant message prefill. The conversation must end with a user message.'
  }
}

function* pairFaults(place: string, content: readonly Block[], before: readonly Block[]): Generator<string> {
  const calls = before.flatMap(({ type, id }) => (type === 'tool_use' ? [id as string] : []))
  const results = content.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id as string] : []))
  const orphan = results.find((id) => !calls.includes(id))
  if (orphan !== undefined) yield `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}`
  const missing = calls.filter((id) => !results.includes(id))
  if (missing.length > 0) yield `${place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`
  if (new Set(results).size !== results.length) yield `${place}: each tool_use must have a single result`
  if (content.slice(0, results.length).some(({ type }) => type !== 'tool_result')) yield `${place}: tool_result blocks must come first`
  if (results.join() !== calls.join()) yield `${place}: results are not in the order of the calls`
}

function* blockFaults(block: Block, role: string, signed: ReadonlyMap<string, string>): Generator<string> {
  const { type = '', text, source, id, name, input, thinking, signature, data } = block
  const members = MEMBERS[type]
  if (members === undefined) yield `Input tag '${type}' found using 'type' does not match any of the expected tags`
  const unknown = Object.keys(block).find((key) => members !== undefined && !members.test(key))
  if (unknown !== undefined) yield `${type}.${unknown}: Extra inputs are not permitted`
  if ((role === 'user') !== /^(?:image|tool_result)$/.test(type) && type !== 'text') yield `${type} blocks are not for role ${role}`
  if (type === 'text' && !(text as string).trim()) yield 'text: text content blocks must contain non-whitespace text'
  if (type === 'image') yield* imageFaults(source as Readonly<Record<string, string>>)
  if (type === 'tool_use') {
    if (!NAME.test(id as string)) yield `tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
    if (!NAME.test(name as string)) yield `tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`
    if (typeof input !== 'object' || input === null || Array.isArray(input)) yield 'tool_use.input: Input should be a valid dictionary'
  }
  if (type === 'thinking' && signed.get(signature as string) !== thinking) yield 'Invalid `signature` in `thinking` block'
  if (type === 'redacted_thinking' && !signed.has(data as string)) yield 'Invalid `data` in `redacted_thinking` block'
  if (type === 'tool_result') yield* resultFaults(block, role, signed)
}

function* resultFaults({ content, is_error: failed }: Block, role: string, signed: ReadonlyMap<string, string>): Generator<string> {
  if (typeof content === 'string') return
  for (const block of content as readonly Block[]) {
    if (failed === true && block.type !== 'text') yield 'tool_result: all content must be type `text` if `is_error` is true'
    yield* blockFaults(block, role, signed)
  }
}

function* imageFaults({ type, media_type: mediaType = '', data = '' }: Readonly<Record<string, string>>): Generator<string> {
  if (type !== 'base64') yield 'source.type: unexpected'
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType))
    yield `source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`
  if (data === '' || Buffer.from(data, 'base64').toString('base64') !== data) yield 'source.base64: invalid base64 data'
  if (data.length > 5 * 1024 * 1024) yield `source.base64: image exceeds 5 MB maximum: ${data.length} bytes > 5242880 bytes`
}
