import type {
  CacheControlEphemeral,
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  Tool as ToolParam,
} from '@anthropic-ai/sdk/resources/messages'
import type { Image } from '../conversation.js'
import type { ModelRequest } from '../provider.js'
import type { ModelBlock, RequestMessage, UserBlock } from '../request-messages.js'
import type { Tool } from '../tool-list.js'
import type { AnthropicSettings } from './anthropic-settings.js'

/** Up to here the next request will be the same. At most four of them may stand in a request. */
const MARK: { readonly cache_control: CacheControlEphemeral } = { cache_control: { type: 'ephemeral' } }
const MARKED_MESSAGES = 2

interface Param {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlockParam[]
}

/** The API refuses an image whose base64 is longer. */
const IMAGE_LENGTH = 5 * 1024 * 1024

/**
 * A request as Anthropic's API takes it. Cache marks apart, each request begins with the bytes of the one before: the messages stand last, and what is
 * in front of them stays the same.
 */
export function anthropicRequest(request: ModelRequest, settings: AnthropicSettings): MessageCreateParamsStreaming {
  const { model, maxTokens, thinking, effort, temperature } = settings
  const messages = request.messages()
  const tools = toolParams(request.tools, messages)
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(thinking === undefined || (thinking.type === 'enabled' && !mayThink(messages)) ? {} : { thinking }),
    ...(effort == null ? {} : { output_config: { effort } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...tools,
    ...(request.system.trim() === '' ? {} : { system: [{ type: 'text', text: request.system, ...MARK }] }),
    messages: marked(messages.map(messageParam)),
  }
}

/** With a budget of thinking the API wants the response whose results are sent to begin with it: one that does not was another model's, or was cut. */
function mayThink(messages: readonly RequestMessage[]): boolean {
  const said = messages.findLast((message) => message.role === 'assistant')?.blocks ?? []
  const [first] = said
  return (first?.kind === 'thinking' && Boolean(first.signature || first.opaque)) || said.every(({ kind }) => kind !== 'call')
}

/** Where the conversation has calls and there are no tools any more, they are named all the same: the API wants to know them. */
function toolParams(tools: readonly Tool[], messages: readonly RequestMessage[]): Partial<MessageCreateParamsStreaming> {
  if (tools.length > 0) return { tools: markLast(tools.map(toolParam)) }
  const called = new Set(
    messages.flatMap(({ blocks }) => (blocks as readonly (ModelBlock | UserBlock)[]).flatMap((block) => (block.kind === 'call' ? [block.name] : []))),
  )
  if (called.size === 0) return {}
  const known = [...called].map((name) => ({ name, input_schema: { type: 'object' as const } }))
  return { tools: markLast(known), tool_choice: { type: 'none' } }
}

function toolParam({ name, description, schema }: Tool): ToolParam {
  return { name, ...(description === '' ? {} : { description }), input_schema: { ...schema, type: 'object' } }
}

function messageParam(message: RequestMessage): Param {
  if (message.role === 'assistant') return { role: 'assistant', content: message.blocks.flatMap(modelBlock) }
  const results = message.blocks.filter((block) => block.kind === 'result')
  const rest = message.blocks.filter((block) => block.kind !== 'result')
  // In a result that failed the API takes text only: its image stands behind the results.
  const apart = results.flatMap(({ failed, image }) => (failed && image !== undefined ? [imageBlock(image)] : []))
  return {
    role: 'user',
    content: [...results.map(resultBlock), ...apart, ...rest.map((block) => (block.kind === 'text' ? textBlock(block.text) : imageBlock(block.image)))],
  }
}

function modelBlock(block: ModelBlock): ContentBlockParam[] {
  if (block.kind === 'text') return [textBlock(block.text)]
  if (block.kind === 'call') return [{ type: 'tool_use', id: block.id, name: block.name, input: JSON.parse(block.input) }]
  if (block.signature) return [{ type: 'thinking', thinking: block.text, signature: block.signature }]
  return block.opaque ? [{ type: 'redacted_thinking', data: block.opaque }] : []
}

function resultBlock({ id, output, failed, image }: Extract<UserBlock, { kind: 'result' }>): ContentBlockParam {
  const content = image === undefined || failed ? output : [textBlock(output), imageBlock(image)]
  return { type: 'tool_result', tool_use_id: id, content, ...(failed ? { is_error: true } : {}) }
}

function textBlock(text: string) {
  return { type: 'text' as const, text }
}

function imageBlock({ data, type }: Image): ImageBlockParam | ReturnType<typeof textBlock> {
  if (data.length > IMAGE_LENGTH) return textBlock(`(an image that is too large to be sent: ${data.length} bytes of base64)`)
  return { type: 'image', source: { type: 'base64', media_type: type as 'image/png', data } }
}

/** Marks the last block of each of the last messages of the user: what one request has written into the cache, the next one reads. */
function marked(messages: readonly Param[]): Param[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-MARKED_MESSAGES)
  return messages.map((message, at) => (users.includes(at) ? { ...message, content: markLast(message.content) } : message))
}

function markLast<Part extends object>(parts: readonly Part[]): Part[] {
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, ...MARK } : part))
}
