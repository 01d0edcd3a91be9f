import type { ModelBlock } from '../request-messages.js'
import { type JsonObject, listOf, objectOf, parsed, textOf } from './json-value.js'
import type { Dialect } from './openai-dialect.js'

/** The members in which servers tell what a model thinks: DeepSeek, llama.cpp and older vLLM the first; Ollama, OpenRouter and newer vLLM the second. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

type ReasoningField = (typeof REASONING_FIELDS)[number]

/**
 * What was thought, as members of the model's message. It goes back by the name under which it came, which is kept as `opaque`: DeepSeek's models
 * want it for every turn with calls, templates of local models leave out by themselves what they don't want. OpenRouter's `reasoning_details` are a
 * list, which goes back as it came.
 */
export function sentReasoning(blocks: readonly ModelBlock[], how: Dialect['reasoning']): Partial<Record<ReasoningField | 'reasoning_details', unknown>> {
  const thought = how === 'omitted' ? [] : blocks.filter((block) => block.kind === 'thinking')
  const sent: Partial<Record<ReasoningField, string>> = {}
  for (const { text, opaque } of thought) {
    const field = REASONING_FIELDS.find((each) => each === opaque)
    if (field !== undefined) sent[field] = (sent[field] ?? '') + text
  }
  const details = thought.flatMap(({ opaque = '' }) => (opaque.startsWith('[') ? listOf(parsed(opaque)).filter(isDetail) : []))
  if (how === 'required') sent.reasoning_content ??= ''
  return details.length > 0 ? { ...sent, reasoning_details: details } : sent
}

/** What was kept for the Responses API may belong to a model of the same name. */
function isDetail(value: unknown): boolean {
  return textOf(objectOf(value)?.type)?.startsWith('reasoning.') === true
}

/** The pieces of OpenRouter's `reasoning_details`, put together as its documentation has it: the texts of one entry are one text. */
export class ReasoningDetails {
  #list: Record<string, unknown>[] = []

  /** Takes the pieces of one chunk; gives the text in them. */
  add(pieces: readonly unknown[]): string {
    return pieces.map((piece) => this.#piece(objectOf(piece))).join('')
  }

  /** What came since the last time, as JSON; undefined for nothing. */
  take(): string | undefined {
    const list = this.#list
    this.#list = []
    return list.length === 0 ? undefined : JSON.stringify(list)
  }

  #piece(piece: JsonObject | undefined): string {
    if (piece === undefined) return ''
    const last = this.#list.at(-1)
    if (last !== undefined && continues(last, piece)) {
      for (const [name, value] of Object.entries(piece)) {
        if (TEXTS.includes(name) && typeof value === 'string') last[name] = textOf(last[name]) === undefined ? value : `${last[name]}${value}`
        else if (value !== null) last[name] = value
      }
    } else this.#list.push({ ...piece })
    return textOf(piece.text) ?? textOf(piece.summary) ?? ''
  }
}

const TEXTS = ['text', 'summary']

function continues(last: JsonObject, piece: JsonObject): boolean {
  const same = last.type === piece.type && last.index === piece.index && (piece.id == null || piece.id === last.id)
  return same && piece.type !== 'reasoning.encrypted'
}
