import type { Image, Item } from './conversation.js'
import { type Exchange, exchangesOf, type Said } from './exchange.js'
import { legalName, RequestIds, requestInput } from './request-calls.js'
import { NO_IMAGE, requestImage } from './request-images.js'
import { cleanText, isBlank, isCleanText } from './request-text.js'

/** A part of what the user's side says. A result's `output` is never blank. */
export type UserBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  | { readonly kind: 'result'; readonly id: string; readonly name: string; readonly output: string; readonly failed: boolean; readonly image?: Image }

/** A part of what the model said. `input` is a JSON object, as text. `opaque` of a text came behind it, at the end of the message. */
export type ModelBlock =
  | { readonly kind: 'text'; readonly text: string; readonly opaque?: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature?: string; readonly opaque?: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly opaque?: string }

/** A message of a request, in the form that every model server's can be written from. Never without blocks. */
export type RequestMessage =
  | { readonly role: 'user'; readonly blocks: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly blocks: readonly ModelBlock[] }

/**
 * The conversation as a model server takes it: user and assistant take turns, the user first and last; every call has exactly one result, in
 * the order of the calls, at the beginning of the very next message; no blank text, no lone surrogates or NULs; ids and names that every server
 * takes, each id once; thinking, and the `opaque` of calls, as it was said or left out, and of `model` only.
 * `mended` is told of each thing in the conversation that no agent-loop should have let happen, not of what turns bring with them. A conversation
 * without faults is given unchanged. Takes time in proportion to its length.
 */
export function requestMessages(items: readonly Item[], model: string, mended: (what: string) => void): RequestMessage[] {
  const messages = new Messages()
  const ids = new RequestIds()
  for (const exchange of exchangesOf(items, mended)) {
    const said = answered(exchange, ids, mended)
    const blocks = modelBlocks(said, exchange.model === model)
    if (blocks.length > 0 && messages.empty) {
      mended('it began with an answer')
      messages.user([{ kind: 'text', text: '(The beginning of the conversation is missing.)' }])
    }
    messages.assistant(blocks)
    messages.user([...said.flatMap(resultBlocks), ...exchange.told.flatMap(toldBlocks)])
  }
  return messages.end()
}

/** Messages in which user and assistant take turns. */
class Messages {
  readonly #list: ({ readonly role: 'user'; readonly blocks: UserBlock[] } | { readonly role: 'assistant'; readonly blocks: ModelBlock[] })[] = []

  get empty(): boolean {
    return this.#list.length === 0
  }

  user(blocks: readonly UserBlock[]): void {
    const last = this.#list.at(-1)
    if (last?.role === 'user') for (const block of blocks) last.blocks.push(block)
    else if (blocks.length > 0) this.#list.push({ role: 'user', blocks: [...blocks] })
  }

  assistant(blocks: readonly ModelBlock[]): void {
    const last = this.#list.at(-1)
    if (last?.role === 'assistant') for (const block of blocks) last.blocks.push(block)
    else if (blocks.length > 0) this.#list.push({ role: 'assistant', blocks: [...blocks] })
  }

  /** The messages, the last one of them the user's. */
  end(): RequestMessage[] {
    if (this.#list.at(-1)?.role !== 'user') this.user([{ kind: 'text', text: 'Go on.' }])
    return this.#list
  }
}

/** A call as it is sent, with the result that it had, if any. */
interface SentCall {
  readonly kind: 'call'
  readonly block: Extract<ModelBlock, { kind: 'call' }>
  readonly result: Extract<Item, { kind: 'result' }> | undefined
}

type SentSaid = Exclude<Said, { kind: 'call' }> | SentCall

function answered({ said }: Exchange, ids: RequestIds, mended: (what: string) => void): SentSaid[] {
  return said.map((each) => {
    if (each.kind !== 'call') return each
    const { call, result } = each
    const id = ids.take(call.id)
    const input = requestInput(call.input)
    if (input === undefined) mended('the input of a call was no JSON object')
    if (id !== call.id && legalName(call.id, '') !== call.id) mended('the id of a call had characters or a length that servers refuse')
    if (result === undefined) mended('a call had no result')
    const { opaque } = call
    return {
      kind: 'call',
      block: { kind: 'call', id, name: legalName(call.name, 'tool'), input: input ?? '{}', ...(opaque === undefined ? {} : { opaque }) },
      result,
    }
  })
}

/**
 * What a model said, as it is sent. Thinking that nothing was said after is left out: servers refuse a message that ends in it. What is opaque only, without
 * thoughts, stays with the text in front of it: Google signs texts at their end.
 */
function modelBlocks(said: readonly SentSaid[], sameModel: boolean): ModelBlock[] {
  const blocks: ModelBlock[] = []
  for (const each of said) {
    if (each.kind === 'call') blocks.push(sameModel ? each.block : withoutOpaque(each.block))
    else if (each.kind === 'text') {
      if (!isBlank(each.text)) blocks.push({ kind: 'text', text: cleanText(each.text) })
    } else if (sameModel && each.whole && isCleanText(each.text + (each.signature ?? '') + (each.opaque ?? ''))) {
      const { text, signature, opaque } = each
      blocks.push({ kind: 'thinking', text, ...(signature === undefined ? {} : { signature }), ...(opaque === undefined ? {} : { opaque }) })
    }
  }
  let last = blocks.at(-1)
  let opaque: string | undefined
  for (; last?.kind === 'thinking'; last = blocks.at(-1)) {
    opaque = last.text === '' ? last.opaque : undefined
    blocks.pop()
  }
  if (last?.kind === 'text' && opaque !== undefined) blocks.splice(-1, 1, { ...last, opaque })
  return blocks
}

function withoutOpaque({ kind, id, name, input }: SentCall['block']): SentCall['block'] {
  return { kind, id, name, input }
}

function resultBlocks(said: SentSaid): UserBlock[] {
  if (said.kind !== 'call') return []
  const { block, result } = said
  const { id, name } = block
  if (result === undefined) return [{ kind: 'result', id, name, output: 'The call was interrupted: it has no result.', failed: true }]
  const image = result.image && requestImage(result.image)
  const lost = result.image !== undefined && image === undefined ? NO_IMAGE : ''
  const text = isBlank(result.output) ? lost || '(no output)' : [cleanText(result.output), lost].filter((part) => part !== '').join('\n')
  return [{ kind: 'result', id, name, output: text, failed: result.status !== 'ok', ...(image === undefined ? {} : { image }) }]
}

/** Stands in front of the summary of what was said before. */
const SUMMARY = 'The conversation up to here was longer. This is a summary of it, made by you:\n\n'

function toldBlocks(told: Exchange['told'][number]): UserBlock[] {
  if (told.kind === 'summary') return [{ kind: 'text', text: SUMMARY + cleanText(told.text) }]
  const text: UserBlock[] = isBlank(told.text) ? [] : [{ kind: 'text', text: cleanText(told.text) }]
  if (told.kind !== 'user') return text
  if (told.image !== undefined) {
    const image = requestImage(told.image)
    return [...text, image === undefined ? { kind: 'text', text: NO_IMAGE } : { kind: 'image', image }]
  }
  return text.length > 0 ? text : [{ kind: 'text', text: '(an empty message)' }]
}
