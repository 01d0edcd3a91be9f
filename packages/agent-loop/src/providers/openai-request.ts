import { createHash } from 'node:crypto'
import { usage } from '@agentpipe/stage'
import type {
  ChatCompletionContentPart as ContentPart,
  ChatCompletionMessageParam as MessageParam,
  ChatCompletionCreateParamsStreaming as RequestParams,
} from 'openai/resources/chat/completions'
import type { Image } from '../conversation.js'
import type { ModelRequest } from '../provider.js'
import type { ModelBlock, RequestMessage, UserBlock } from '../request-messages.js'
import type { Tool } from '../tool-list.js'
import type { Dialect } from './openai-dialect.js'
import { sentReasoning } from './openai-reasoning.js'
import type { OpenAiSettings } from './openai-settings.js'

/** A request for chat completions. Each one begins with the bytes of the one before: the messages stand last, and what is in front of them stays the same. */
export function chatRequest(request: ModelRequest, settings: OpenAiSettings, dialect: Dialect): RequestParams {
  const { model, maxTokens, temperature, official, cacheKey } = settings
  const system: MessageParam[] = request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }]
  return {
    model,
    stream: true,
    ...(dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(maxTokens === undefined ? {} : { [dialect.maxTokens]: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...thinkingParams(settings, dialect),
    ...(official ? { prompt_cache_key: cacheKey } : {}),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolParam) }),
    messages: [...system, ...request.messages().flatMap((message) => messageParams(message, dialect))],
  }
}

function thinkingParams({ effort, thinking }: OpenAiSettings, { thinking: how }: Dialect): object {
  if (how === 'openrouter') {
    const reasoning = thinking === 'off' ? { enabled: false } : thinking === undefined ? { effort } : { max_tokens: thinking }
    return effort === undefined && thinking === undefined ? {} : { reasoning }
  }
  if (typeof thinking === 'number') throw usage(`--thinking ${thinking}: this model server takes no number of tokens; --effort low, medium or high`)
  if (how === 'deepseek')
    return { ...(thinking === 'off' ? { thinking: { type: 'disabled' } } : {}), ...(effort === undefined ? {} : { reasoning_effort: effort }) }
  const level = thinking === 'off' ? 'none' : effort
  return level === undefined ? {} : { reasoning_effort: level }
}

function toolParam({ name, description, schema }: Tool) {
  const parameters = { properties: {}, ...schema, type: 'object' }
  return { type: 'function' as const, function: { name, ...(description === '' ? {} : { description }), parameters } }
}

function messageParams(message: RequestMessage, dialect: Dialect): MessageParam[] {
  if (message.role === 'assistant') return [modelParam(message.blocks, dialect)]
  const results = message.blocks.filter((block) => block.kind === 'result')
  const rest = message.blocks.filter((block) => block.kind !== 'result')
  const parts = [...results.flatMap(imageOfResult), ...rest.map(userPart)]
  return [
    ...results.map(({ id, output }): MessageParam => ({ role: 'tool', tool_call_id: sentId(id, dialect), content: output })),
    ...(parts.length === 0 ? [] : [{ role: 'user' as const, content: userContent(parts) }]),
  ]
}

/** A result can only be text: its image follows in a message of the user. */
function imageOfResult({ name, id, image }: Extract<UserBlock, { kind: 'result' }>): ContentPart[] {
  return image === undefined ? [] : [{ type: 'text', text: `The image that ${name} (${id}) has given:` }, imagePart(image)]
}

function userPart(block: Exclude<UserBlock, { kind: 'result' }>): ContentPart {
  return block.kind === 'text' ? { type: 'text', text: block.text } : imagePart(block.image)
}

function imagePart({ data, type }: Image): ContentPart {
  return { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }
}

/** As a string wherever it can be one: the templates of local models often take nothing else. */
function userContent(parts: readonly ContentPart[]): string | ContentPart[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n\n') : [...parts]
}

function modelParam(blocks: readonly ModelBlock[], dialect: Dialect): MessageParam {
  const texts = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
  const calls = blocks.filter((block) => block.kind === 'call')
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join('\n\n'),
    ...sentReasoning(blocks, dialect.reasoning),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map(({ id, name, input }) => ({ id: sentId(id, dialect), type: 'function' as const, function: { name, arguments: input } })) }),
  }
}

function sentId(id: string, { callIds }: Dialect): string {
  if (callIds === 'any' || /^[A-Za-z0-9]{9}$/.test(id)) return id
  return createHash('sha256').update(id).digest('hex').slice(0, 9)
}
