import type { Content, FunctionDeclaration, GenerateContentParameters, Part } from '@google/genai'
import type { Image } from '../conversation.js'
import type { ModelRequest } from '../provider.js'
import { NO_IMAGE } from '../request-images.js'
import type { ModelBlock, RequestMessage, UserBlock } from '../request-messages.js'
import type { Tool } from '../tool-list.js'
import { googleName } from './google-names.js'
import type { GoogleSettings } from './google-settings.js'

type Result = Extract<UserBlock, { kind: 'result' }>

/** From Gemini 3 on the first call of a message has to be signed. Google's documentation gives this for calls that others have made. */
const UNSIGNED = 'skip_thought_signature_validator'

/**
 * A request as the SDK takes it. `names`: the tools, from toolNames. The SDK writes the messages first, so that the body begins with the bytes of the one
 * before, and what follows them stays the same.
 */
export function googleRequest(request: ModelRequest, names: ReadonlyMap<string, Tool>, settings: GoogleSettings): GenerateContentParameters {
  const { model, maxTokens, temperature, thinking, early } = settings
  return {
    model,
    contents: request.messages().map((message) => content(message, early)),
    config: {
      ...(request.system.trim() === '' ? {} : { systemInstruction: { parts: [{ text: request.system }] } }),
      ...(names.size === 0 ? {} : { tools: [{ functionDeclarations: [...names].map(declaration) }] }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(thinking === undefined ? {} : { thinkingConfig: thinking }),
    },
  }
}

function declaration([name, { description, schema }]: [string, Tool]): FunctionDeclaration {
  return { name, ...(description === '' ? {} : { description }), parametersJsonSchema: { properties: {}, ...schema, type: 'object' } }
}

function content(message: RequestMessage, early: boolean): Content {
  return message.role === 'assistant' ? { role: 'model', parts: modelParts(message.blocks, early) } : { role: 'user', parts: userParts(message.blocks, early) }
}

/** What the model said, with its signatures on the parts on which they came. Thoughts without one are summaries, which the model has no use for. */
function modelParts(blocks: readonly ModelBlock[], early: boolean): Part[] {
  const parts: Part[] = []
  for (const block of blocks) {
    if (block.kind === 'call') {
      const first = !early && parts.every(({ functionCall }) => functionCall === undefined)
      const called = { id: block.id, name: googleName(block.name), args: JSON.parse(block.input) }
      parts.push({ functionCall: called, ...signed(block.opaque ?? (first ? UNSIGNED : undefined)) })
    } else if (block.kind === 'text') parts.push({ text: block.text, ...signed(block.opaque) })
    else if (block.text === '') sign(parts, block.opaque)
    else if (isSignature(block.opaque)) parts.push({ text: block.text, thought: true, thoughtSignature: block.opaque })
  }
  return parts
}

/** The signature of a text comes behind it. */
function sign(parts: Part[], signature: string | undefined): void {
  const last = parts.at(-1)
  if (last?.text !== undefined && last.thoughtSignature === undefined) parts.splice(-1, 1, { ...last, ...signed(signature) })
}

function signed(signature: string | undefined): { thoughtSignature?: string } {
  return isSignature(signature) ? { thoughtSignature: signature } : {}
}

/** Base64. What other servers have left as `opaque` is none: JSON, or the name of a field. */
function isSignature(opaque: string | undefined): opaque is string {
  return opaque !== undefined && /^(?!reasoning)[A-Za-z0-9+/_-]+={0,2}$/.test(opaque)
}

function userParts(blocks: readonly UserBlock[], early: boolean): Part[] {
  const results = blocks.filter((block) => block.kind === 'result')
  return [
    ...results.map((result) => resultPart(result, early)),
    ...(early ? results.flatMap(imageOfResult) : []),
    ...blocks.flatMap((block) => (block.kind === 'text' ? [{ text: block.text }] : block.kind === 'image' ? [imagePart(block.image)] : [])),
  ]
}

function resultPart({ id, name, output, failed, image }: Result, early: boolean): Part {
  const parts = early || image === undefined || !isShown(image) ? [] : [imagePart(image)]
  const response = failed ? { error: output } : { output }
  return { functionResponse: { id, name: googleName(name), response, ...(parts.length === 0 ? {} : { parts }) } }
}

/** Before Gemini 3 the image of a result stands behind the results. */
function imageOfResult({ name, id, image }: Result): Part[] {
  return image === undefined ? [] : [{ text: `The image that ${name} (${id}) has given:` }, imagePart(image)]
}

function imagePart(image: Image): Part {
  return isShown(image) ? { inlineData: { mimeType: image.type, data: image.data } } : { text: NO_IMAGE }
}

/** Of the kinds that others take this one is refused. */
function isShown({ type }: Image): boolean {
  return type !== 'image/gif'
}
