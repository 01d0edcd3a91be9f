import { type ModelEvent, ProviderError, type ResponseEnd, type Usage } from '../provider.js'
import type { Tool } from '../tool-list.js'
import type { ServerEvent } from './event-stream.js'
import { saidFailure } from './google-errors.js'
import { countOf, type JsonObject, listOf, objectOf, parsed, textOf } from './json-value.js'
import type { ResponseReader } from './openai-connection.js'

/** Why a response ended, where it was not for a refusal. */
const ENDS: Readonly<Record<string, ResponseEnd>> = { STOP: 'end_turn', MAX_TOKENS: 'max_tokens', CONTINUATION: 'max_tokens' }

/** The model has called a tool in a way that the server could not read. What it wrote is not told. */
const BAD_CALL = /^(?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL)$/

/** Reads one response of streamGenerateContent. `names`: the tools, from toolNames. */
export class GoogleStream implements ResponseReader {
  readonly #names: ReadonlyMap<string, Tool>
  #calls: ModelEvent[] = []
  /** What the last part was a piece of: a signature alone belongs to it. */
  #saying: 'text' | 'thinking' | undefined
  #said = false
  #end: ResponseEnd | undefined

  constructor(names: ReadonlyMap<string, Tool>) {
    this.#names = names
  }

  get complete(): boolean {
    return this.#end !== undefined
  }

  get finished(): boolean {
    return this.#end !== undefined
  }

  take({ data, cut }: ServerEvent): ModelEvent[] {
    const value = parsed(data)
    const chunk = objectOf(Array.isArray(value) ? value[0] : value)
    if (chunk === undefined) {
      if (cut || data.trim() === '' || data.startsWith('[DONE]')) return []
      throw new ProviderError('unreachable', `the model server has sent something that is no JSON object: ${JSON.stringify(data.slice(0, 200))}`)
    }
    if (chunk.error != null) throw saidFailure(objectOf(chunk.error) ?? chunk)
    return this.#chunk(chunk)
  }

  end(): ModelEvent[] {
    return this.#end === undefined ? [] : [...this.#calls, { kind: 'end', reason: this.#end }]
  }

  cut(): Error {
    return new ProviderError('cut', `the answer of the model server ${this.#said ? 'ended in the middle' : 'was empty'}`)
  }

  #chunk(chunk: JsonObject): ModelEvent[] {
    const usage = googleUsage(objectOf(chunk.usageMetadata))
    const candidate = objectOf(listOf(chunk.candidates)[0])
    const said = listOf(objectOf(candidate?.content)?.parts).flatMap((part) => this.#part(objectOf(part) ?? {}))
    const reason = textOf(candidate?.finishReason)
    if (reason !== undefined && reason !== 'FINISH_REASON_UNSPECIFIED') this.#finish(reason)
    else if (candidate === undefined && textOf(objectOf(chunk.promptFeedback)?.blockReason) !== undefined) this.#end = 'refusal'
    return usage === undefined ? said : [...said, { kind: 'usage', usage }]
  }

  #part(part: JsonObject): ModelEvent[] {
    const called = objectOf(part.functionCall)
    const signature = textOf(part.thoughtSignature)
    if (called !== undefined) return this.#call(called, signature)
    const kind = part.thought === true ? 'thinking' : 'text'
    const text = textOf(part.text)
    const events: ModelEvent[] = text === undefined ? [] : [{ kind, text }]
    if (text !== undefined) {
      this.#said = true
      this.#saying = kind
    }
    if (signature === undefined || this.#saying !== kind) return events
    this.#saying = undefined
    return [...events, { kind: 'thinking_end', opaque: signature }]
  }

  #call({ id, name, args }: JsonObject, signature: string | undefined): ModelEvent[] {
    this.#said = true
    this.#saying = undefined
    const told = textOf(name) ?? ''
    this.#calls.push({
      kind: 'call',
      id: textOf(id) ?? '',
      name: this.#names.get(told)?.name ?? told,
      input: JSON.stringify(args ?? {}),
      ...(signature === undefined ? {} : { opaque: signature }),
    })
    return []
  }

  #finish(reason: string): void {
    if (reason === 'MALFORMED_RESPONSE') throw new ProviderError('cut', 'the answer of the model server was malformed (MALFORMED_RESPONSE)')
    if (BAD_CALL.test(reason)) {
      // The same words each time: that it is bad again and again is noticed by them.
      this.#calls = [{ kind: 'call', id: '', name: 'a tool', input: reason }]
      this.#end = 'calls'
    } else this.#end = Object.hasOwn(ENDS, reason) ? ENDS[reason] : 'refusal'
    if (this.#end === 'end_turn' && this.#calls.length > 0) this.#end = 'calls'
  }
}

/** A usage as USAGE has it: input without what was read from the cache, output with what was thought. */
function googleUsage(usage: JsonObject | undefined): Usage | undefined {
  const input = countOf(usage?.promptTokenCount)
  if (usage === undefined || input === undefined) return undefined
  const count = (name: string) => countOf(usage[name]) ?? 0
  const cacheRead = count('cachedContentTokenCount')
  return {
    input: Math.max(0, input + count('toolUsePromptTokenCount') - cacheRead),
    output: count('candidatesTokenCount') + count('thoughtsTokenCount'),
    cacheRead,
    cacheCreation: 0,
  }
}
