import { toolFaults } from './openai-faults.js'

type Loose = Readonly<Record<string, unknown>>

const PARAMS = /^(model|stream|store|include|reasoning|max_output_tokens|temperature|prompt_cache_key|instructions|tools|input)$/

/** What is wrong with a request for the Responses API; undefined for nothing. `given` are the reasoning items that the server has given, as JSON, by id. */
export function responsesFault(body: string, given: ReadonlyMap<string, string>): string | undefined {
  const request = JSON.parse(body)
  const faults = [...paramFaults(request), ...toolFaults(request.tools), ...inputFaults(request.input, given)]
  return faults[0]
}

function* paramFaults(request: Loose): Generator<string> {
  for (const name of Object.keys(request)) if (!PARAMS.test(name)) yield `Unknown parameter: '${name}'.`
  if (request.store !== false) yield 'store: this organization keeps nothing'
  if (!Array.isArray(request.input) || request.input.length === 0) yield 'input: empty array'
}

function* inputFaults(items: readonly Loose[], given: ReadonlyMap<string, string>): Generator<string> {
  const calls = new Map<unknown, boolean>()
  for (const [at, item] of items.entries()) {
    const place = `input[${at}]`
    if (item.type === 'reasoning') {
      if (given.get(String(item.id)) !== JSON.stringify(item))
        yield `${place}: Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`
      const next = items[at + 1]
      const follows = next?.type === 'reasoning' || next?.type === 'function_call' || next?.role === 'assistant'
      if (!follows) yield `Item '${item.id}' of type 'reasoning' was provided without its required following item.`
    } else if (item.type === 'function_call') {
      if (calls.has(item.call_id)) yield `${place}: duplicate call_id`
      calls.set(item.call_id, false)
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(item.name))) yield `${place}: name does not match the pattern`
      if (typeof item.arguments !== 'string' || typeof JSON.parse(item.arguments) !== 'object') yield `${place}: arguments`
    } else if (item.type === 'function_call_output') {
      if (calls.get(item.call_id) !== false) yield `No tool call found for function call output with call_id ${item.call_id}.`
      calls.set(item.call_id, true)
      yield* contentFaults(item.output, place)
    } else if (item.role === 'user' || item.role === 'assistant') {
      for (const [id, answered] of calls) if (!answered && item.role === 'user') yield `No tool output found for function call ${id}.`
      yield* contentFaults(item.content, place)
    } else yield `${place}: invalid item`
  }
  for (const [id, answered] of calls) if (!answered) yield `No tool output found for function call ${id}.`
}

function* contentFaults(content: unknown, place: string): Generator<string> {
  if (typeof content === 'string' ? content.trim() === '' : !Array.isArray(content) || content.length === 0) yield `${place}: empty content`
  for (const part of Array.isArray(content) ? content : []) {
    const legal = part.type === 'input_text' ? part.text : part.type === 'input_image' && /^data:image\/(png|jpeg|gif|webp);base64,./.test(part.image_url)
    if (!legal) yield `${place}: invalid part`
  }
}
