import { type ModelEvent, ProviderError, type ResponseEnd, type Usage } from '../provider.js'
import type { ServerEvent } from './event-stream.js'
import { type JsonObject, listOf, objectOf, parsed, textOf } from './json-value.js'
import { wholeInput } from './openai-calls.js'
import type { ResponseReader } from './openai-connection.js'
import { saidFailure } from './openai-errors.js'
import { openAiUsage } from './openai-usage.js'

/** Members of a reasoning item that go back; its status does not. */
const KEPT = ['type', 'id', 'summary', 'content', 'encrypted_content']

/** Reads one response of the Responses API. */
export class ResponsesStream implements ResponseReader {
  /** Places in the output whose item is done, and those of which text has come. */
  readonly #done = new Set<number>()
  readonly #spoken = new Set<number>()
  /** Reasoning items that wait for what the model does after them: they stay together with it. */
  #thought: JsonObject[] = []
  #calls: ModelEvent[] = []
  #usage: Usage | undefined
  #end: ResponseEnd | undefined
  #refused = false

  get complete(): boolean {
    return this.#end !== undefined
  }

  get finished(): boolean {
    return this.#end !== undefined
  }

  take({ event, data, cut }: ServerEvent): ModelEvent[] {
    const text = data.trim()
    if (text === '' || text.startsWith('[DONE]')) return []
    const value = objectOf(parsed(text))
    if (value === undefined) {
      if (cut) return []
      throw new ProviderError('unreachable', `the model server has sent something that is no JSON object: ${JSON.stringify(text.slice(0, 200))}`)
    }
    return this.#event(textOf(value.type) ?? event, value)
  }

  end(): ModelEvent[] {
    const usage: ModelEvent[] = this.#usage === undefined ? [] : [{ kind: 'usage', usage: this.#usage }]
    return this.#end === undefined ? usage : [...this.#calls, ...usage, { kind: 'end', reason: this.#end }]
  }

  cut(): Error {
    return new ProviderError('cut', `the answer of the model server ${this.#spoken.size + this.#done.size > 0 ? 'ended in the middle' : 'was empty'}`)
  }

  #event(type: string, value: JsonObject): ModelEvent[] {
    const place = Number(value.output_index ?? 0)
    switch (type) {
      case 'response.output_item.added':
        return this.#added(objectOf(value.item) ?? {})
      case 'response.output_text.delta':
        return this.#say(place, value.delta)
      case 'response.refusal.delta':
        this.#refused = true
        return this.#say(place, value.delta)
      case 'response.reasoning_summary_part.added':
        return Number(value.summary_index) > 0 ? [{ kind: 'thinking', text: '\n\n' }] : []
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return textOf(value.delta) === undefined ? [] : [{ kind: 'thinking', text: value.delta as string }]
      case 'response.output_item.done':
        return this.#itemDone(place, objectOf(value.item) ?? {})
      case 'response.completed':
      case 'response.incomplete':
        return this.#complete(type, objectOf(value.response) ?? {})
      case 'response.failed':
      case 'response.cancelled':
        throw saidFailure(objectOf(value.response)?.error ?? 'the response has failed')
      default:
        if (type === 'error' || value.error != null) throw saidFailure(value.error ?? value)
        return []
    }
  }

  /** A message may tell which part of the answer it is, and wants to be told so again. */
  #added(item: JsonObject): ModelEvent[] {
    if (item.type !== 'message' || textOf(item.phase) === undefined) return []
    return [{ kind: 'thinking_end', opaque: JSON.stringify([...this.#takeThought(), { type: 'message', phase: item.phase }]) }]
  }

  #say(place: number, delta: unknown): ModelEvent[] {
    const text = textOf(delta)
    if (text === undefined) return []
    this.#spoken.add(place)
    const thought = this.#takeThought()
    return [...(thought.length === 0 ? [] : [{ kind: 'thinking_end' as const, opaque: JSON.stringify(thought) }]), { kind: 'text', text }]
  }

  #itemDone(place: number, item: JsonObject): ModelEvent[] {
    if (this.#done.has(place)) return []
    this.#done.add(place)
    if (item.type === 'reasoning') this.#thought.push(Object.fromEntries(KEPT.flatMap((name) => (item[name] == null ? [] : [[name, item[name]]]))))
    else if (item.type === 'function_call') this.#call(item)
    else if (item.type === 'message' && !this.#spoken.has(place)) return this.#message(place, item)
    return []
  }

  /** A message whose pieces the server has not told. */
  #message(place: number, item: JsonObject): ModelEvent[] {
    return listOf(item.content).flatMap((each) => {
      const part = objectOf(each)
      if (part?.type === 'refusal') this.#refused = true
      return this.#say(place, part?.text ?? part?.refusal)
    })
  }

  #call({ call_id: id, name, arguments: given }: JsonObject): void {
    const thought = this.#takeThought()
    this.#calls.push({
      kind: 'call',
      id: textOf(id) ?? '',
      name: textOf(name) ?? '',
      input: wholeInput([typeof given === 'string' ? given : JSON.stringify(given ?? {})]),
      ...(thought.length === 0 ? {} : { opaque: JSON.stringify(thought) }),
    })
  }

  #takeThought(): JsonObject[] {
    const thought = this.#thought
    this.#thought = []
    return thought
  }

  #complete(type: string, response: JsonObject): ModelEvent[] {
    if (response.status === 'failed') throw saidFailure(response.error ?? 'the response has failed')
    const rest = listOf(response.output).flatMap((item, place) => this.#itemDone(place, objectOf(item) ?? {}))
    this.#usage = openAiUsage(response.usage)
    const incomplete = type === 'response.incomplete' || response.status === 'incomplete'
    if (incomplete) this.#end = objectOf(response.incomplete_details)?.reason === 'content_filter' ? 'refusal' : 'max_tokens'
    else if (this.#calls.length > 0) this.#end = 'calls'
    else this.#end = this.#refused ? 'refusal' : 'end_turn'
    return rest
  }
}
