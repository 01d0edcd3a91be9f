import { type ModelEvent, ProviderError, type ResponseEnd, type Usage } from '../provider.js'
import type { ServerEvent } from './event-stream.js'
import { type JsonObject, listOf, objectOf, parsed, textOf } from './json-value.js'
import { OpenAiCalls } from './openai-calls.js'
import type { ResponseReader } from './openai-connection.js'
import { saidFailure } from './openai-errors.js'
import { REASONING_FIELDS, ReasoningDetails } from './openai-reasoning.js'
import { openAiUsage } from './openai-usage.js'
import { ThinkTags } from './think-tags.js'

const ENDS: Readonly<Record<string, ResponseEnd>> = {
  length: 'max_tokens',
  max_tokens: 'max_tokens',
  model_length: 'max_tokens',
  content_filter: 'refusal',
  refusal: 'refusal',
}

/** Reads one response of chat completions, in whatever shape servers send it. */
export class ChatStream implements ResponseReader {
  readonly #calls = new OpenAiCalls()
  readonly #tags = new ThinkTags()
  readonly #details = new ReasoningDetails()
  /** The member in which the model thinks, until it says something. */
  #reasoning: string | undefined
  #reason: string | undefined
  #usage: Usage | undefined
  #done = false
  #said = false
  #refused = false
  /** Usage came with the reason of the end or behind it. */
  #counted = false

  get complete(): boolean {
    return this.#reason !== undefined || (this.#done && (this.#said || this.#calls.any))
  }

  get finished(): boolean {
    return this.#done || this.#counted
  }

  take({ event, data, cut }: ServerEvent): ModelEvent[] {
    const text = data.trim()
    if (text.startsWith('[DONE]')) this.#done = true
    if (this.#done || text === '') return []
    const chunk = objectOf(parsed(text))
    if (chunk !== undefined) return this.#chunk(chunk, event)
    // What the connection broke in is no chunk; the end of the response tells whether it is missed.
    if (cut) return []
    throw new ProviderError('unreachable', `the model server has sent something that is no JSON object: ${JSON.stringify(text.slice(0, 200))}`)
  }

  end(): ModelEvent[] {
    const usage: ModelEvent[] = this.#usage === undefined ? [] : [{ kind: 'usage', usage: this.#usage }]
    const rest: ModelEvent[] = [...this.#tags.end(), ...this.#endThinking()]
    return this.complete ? [...rest, ...this.#calls.events(), ...usage, { kind: 'end', reason: this.#end() }] : [...rest, ...usage]
  }

  cut(): Error {
    return new ProviderError('cut', `the answer of the model server ${this.#said || this.#calls.any ? 'ended in the middle' : 'was empty'}`)
  }

  #end(): ResponseEnd {
    const end = ENDS[this.#reason?.toLowerCase() ?? '']
    if (end !== undefined) return end
    if (this.#calls.any) return 'calls'
    return this.#refused ? 'refusal' : 'end_turn'
  }

  #chunk(chunk: JsonObject, event: string): ModelEvent[] {
    if (chunk.error != null && chunk.error !== '') throw saidFailure(chunk.error)
    if (event === 'error' || chunk.object === 'error' || chunk.type === 'error') throw saidFailure(chunk)
    const choice = objectOf(listOf(chunk.choices)[0])
    const said = choice === undefined ? [] : this.#choice(choice)
    const usage = openAiUsage(chunk.usage) ?? openAiUsage(choice?.usage) ?? openAiUsage(objectOf(chunk.x_groq)?.usage)
    this.#usage = usage ?? this.#usage
    this.#counted ||= usage !== undefined && this.#reason !== undefined
    return said
  }

  #choice(choice: JsonObject): ModelEvent[] {
    const said = this.#delta(this.#deltaOf(choice))
    const reason = textOf(choice.finish_reason)
    if (reason === 'error') throw saidFailure(choice.error ?? 'it could not finish its answer')
    this.#reason = reason ?? this.#reason
    return said
  }

  /** Servers that can't stream send a message; some send it once more when it was streamed. */
  #deltaOf(choice: JsonObject): JsonObject {
    return objectOf(choice.delta) ?? (this.#said || this.#calls.any ? undefined : objectOf(choice.message)) ?? {}
  }

  #delta(delta: JsonObject): ModelEvent[] {
    this.#calls.add(delta.tool_calls)
    const events = this.#think(delta)
    for (const text of textsOf(delta.content)) {
      for (const said of text.thinking ? [{ kind: 'thinking' as const, text: text.text }] : this.#tags.take(text.text)) {
        if (said.kind === 'text') events.push(...this.#endThinking())
        events.push(said)
      }
    }
    const refusal = textOf(delta.refusal)
    if (refusal !== undefined) {
      this.#refused = true
      events.push(...this.#endThinking(), { kind: 'text', text: refusal })
    }
    this.#said ||= events.length > 0
    return events
  }

  #think(delta: JsonObject): ModelEvent[] {
    const detailed = this.#details.add(listOf(delta.reasoning_details))
    const field = REASONING_FIELDS.find((name) => textOf(delta[name]) !== undefined)
    if (field !== undefined) this.#reasoning ??= field
    const text = field === undefined ? detailed : (delta[field] as string)
    return text === '' ? [] : [{ kind: 'thinking', text }]
  }

  /** What goes back to the server with what was thought. */
  #endThinking(): ModelEvent[] {
    const opaque = this.#details.take() ?? this.#reasoning
    this.#reasoning = undefined
    return opaque === undefined ? [] : [{ kind: 'thinking_end', opaque }]
  }
}

/** The text of a `content`: a string, or parts, as Mistral's models send them when they think. */
function textsOf(content: unknown): { readonly text: string; readonly thinking: boolean }[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content, thinking: false }]
  return listOf(content).flatMap((each) => {
    const part = objectOf(each)
    if (part?.type === 'thinking') return textsOf(part.thinking).map(({ text }) => ({ text, thinking: true }))
    return textsOf(part?.text)
  })
}
