import type {
  EasyInputMessage,
  ResponseInputItem as InputItem,
  ResponseCreateParamsStreaming as RequestParams,
  ResponseInputImage,
  ResponseInputText,
} from 'openai/resources/responses/responses'
import type { Reasoning } from 'openai/resources/shared'
import type { Image } from '../conversation.js'
import type { ModelRequest } from '../provider.js'
import type { ModelBlock, RequestMessage, UserBlock } from '../request-messages.js'
import type { Tool } from '../tool-list.js'
import { listOf, objectOf, parsed, textOf } from './json-value.js'
import type { OpenAiSettings } from './openai-settings.js'

/** What a model of the Responses API takes: what reasons can be asked for summaries and for what it thought, encrypted. */
export interface ResponsesDialect {
  readonly summary: boolean
  readonly encrypted: boolean
}

/** What we expect of a model before it has refused anything. */
export function responsesDialect({ model, thinking }: OpenAiSettings): ResponsesDialect {
  const reasons = !/^(?:gpt-[34]|chatgpt-4)/.test(model)
  return { summary: reasons && thinking !== 'off', encrypted: reasons }
}

/** How to ask a model that has refused a request with these words; undefined where nothing that we could do otherwise is at fault. */
export function adaptedResponses(dialect: ResponsesDialect, refusal: string): ResponsesDialect | undefined {
  if (dialect.summary && /reasoning\.summary|reasoning summar/i.test(refusal)) return { ...dialect, summary: false }
  if (dialect.encrypted && /encrypted[ _]content/i.test(refusal)) return { ...dialect, encrypted: false }
  return undefined
}

/** A request for the Responses API, which keeps nothing of it. Each one begins with the bytes of the one before: the input stands last. */
export function responsesRequest(request: ModelRequest, settings: OpenAiSettings, dialect: ResponsesDialect): RequestParams {
  const { model, maxTokens, temperature, thinking, official, cacheKey } = settings
  const effort = thinking === 'off' ? 'none' : settings.effort
  const reasoning = { ...(effort === undefined ? {} : { effort }), ...(dialect.summary ? { summary: 'auto' } : {}) }
  return {
    model,
    stream: true,
    store: false,
    ...(dialect.encrypted ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning: reasoning as Reasoning }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(official ? { prompt_cache_key: cacheKey } : {}),
    ...(request.system.trim() === '' ? {} : { instructions: request.system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolParam) }),
    input: request.messages().flatMap(inputItems),
  }
}

function toolParam({ name, description, schema }: Tool) {
  const parameters = { properties: {}, ...schema, type: 'object' }
  return { type: 'function' as const, name, ...(description === '' ? {} : { description }), parameters, strict: false }
}

function inputItems(message: RequestMessage): InputItem[] {
  if (message.role === 'assistant') return modelItems(message.blocks)
  const results = message.blocks.filter((block) => block.kind === 'result')
  const rest = message.blocks.filter((block) => block.kind !== 'result')
  return [...results.map(resultItem), ...(rest.length === 0 ? [] : [{ role: 'user' as const, content: userContent(rest) }])]
}

function resultItem({ id, output, image }: Extract<UserBlock, { kind: 'result' }>): InputItem {
  const content = image === undefined ? output : [{ type: 'input_text' as const, text: output }, imagePart(image)]
  return { type: 'function_call_output', call_id: id, output: content }
}

function userContent(blocks: readonly Exclude<UserBlock, { kind: 'result' }>[]): string | (ResponseInputText | ResponseInputImage)[] {
  const [first] = blocks
  if (blocks.length === 1 && first?.kind === 'text') return first.text
  return blocks.map((block) => (block.kind === 'text' ? { type: 'input_text', text: block.text } : imagePart(block.image)))
}

function imagePart({ data, type }: Image): ResponseInputImage {
  return { type: 'input_image', detail: 'auto', image_url: `data:${type};base64,${data}` }
}

/** What the model said. What it had thought stands before what it said next; items are told by what they hold, ids belong to a store that we don't use. */
function modelItems(blocks: readonly ModelBlock[]): InputItem[] {
  const items: InputItem[] = []
  let phase: EasyInputMessage['phase']
  let thought: InputItem[] = []
  for (const block of blocks) {
    const kept = block.kind === 'text' ? [] : keptItems(block.opaque)
    thought = [...thought, ...kept.filter(({ type }) => type === 'reasoning')] as InputItem[]
    phase = (kept.find(({ type }) => type === 'message')?.phase as typeof phase) ?? phase
    if (block.kind === 'thinking') continue
    items.push(...thought)
    thought = []
    if (block.kind === 'text') items.push({ role: 'assistant', content: block.text, ...(phase == null ? {} : { phase }) })
    else items.push({ type: 'function_call', call_id: block.id, name: block.name, arguments: block.input })
    phase = undefined
  }
  return items
}

/** The items that were kept as `opaque`: reasoning, as it came, and what belongs to a message. What another server left there is none. */
function keptItems(opaque: string | undefined): Readonly<Record<string, unknown>>[] {
  const value = opaque?.startsWith('[') ? parsed(opaque) : undefined
  return listOf(value).flatMap((each) => {
    const item = objectOf(each)
    if (item?.type === 'message') return [item]
    return item?.type === 'reasoning' && (textOf(item.encrypted_content) !== undefined || listOf(item.content).length > 0) ? [item] : []
  })
}
