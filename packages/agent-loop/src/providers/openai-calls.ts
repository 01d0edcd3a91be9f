import type { ModelEvent } from '../provider.js'
import { listOf, objectOf, parsed, textOf } from './json-value.js'

interface OpenCall {
  id: string
  name: string
  /** The pieces of the arguments, which are put together once. */
  readonly pieces: string[]
}

interface Delta {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly input: string
}

/** The calls of one response, put together from the deltas of `tool_calls`, whatever servers leave out of them or repeat. */
export class OpenAiCalls {
  readonly #calls: OpenCall[] = []
  readonly #byIndex = new Map<number, OpenCall>()

  get any(): boolean {
    return this.#calls.length > 0
  }

  /** Takes the `tool_calls` of one chunk. */
  add(deltas: unknown): void {
    let inChunk: OpenCall | undefined
    for (const each of listOf(deltas)) {
      const delta = deltaOf(each)
      if (delta === undefined) continue
      const call = this.#find(delta, inChunk) ?? this.#begin(delta)
      if (delta.index !== undefined) this.#byIndex.set(delta.index, call)
      extend(call, delta)
      inChunk = call
    }
  }

  /** The calls, in the order in which they began. */
  events(): ModelEvent[] {
    return this.#calls.map(({ id, name, pieces }) => ({ kind: 'call', id, name, input: wholeInput(pieces) }))
  }

  /** The call that a delta goes on with; undefined where it begins one. `inChunk` is the call before it in the same chunk. */
  #find(delta: Delta, inChunk: OpenCall | undefined): OpenCall | undefined {
    const { index, id, name } = delta
    const placed = index === undefined ? undefined : this.#byIndex.get(index)
    if (placed !== undefined) return beginsAnother(placed, delta) ? undefined : placed
    if (index !== undefined) return undefined
    const known = id === '' ? undefined : this.#calls.find((call) => call.id === id)
    if (known !== undefined) return known
    const last = this.#calls.at(-1)
    if (last === undefined || name === '') return last
    return inChunk === last || id !== '' || beginsAnother(last, delta) ? undefined : last
  }

  #begin({ id }: Delta): OpenCall {
    const call: OpenCall = { id, name: '', pieces: [] }
    this.#calls.push(call)
    return call
  }
}

function deltaOf(value: unknown): Delta | undefined {
  const delta = objectOf(value)
  const called = objectOf(delta?.function)
  const given = called?.arguments
  const input = typeof given === 'string' ? given : given == null ? '' : JSON.stringify(given)
  const [id, name] = [textOf(delta?.id) ?? '', textOf(called?.name) ?? '']
  if (id === '' && name === '' && input === '') return undefined
  return { index: typeof delta?.index === 'number' ? delta.index : undefined, id, name, input }
}

/** Some servers give every call the index 0: another id with a name, or another name behind whole arguments, is another call. */
function beginsAnother({ id, pieces }: OpenCall, delta: Delta): boolean {
  if (delta.name === '') return false
  if (delta.id !== '' && id !== '') return delta.id !== id
  return pieces.at(-1)?.trimEnd().endsWith('}') === true && objectOf(parsed(pieces.join(''))) !== undefined
}

function extend(call: OpenCall, { id, name, input }: Delta): void {
  if (call.id === '') call.id = id
  // A name comes whole with each delta, or grows, or comes in pieces.
  if (name.startsWith(call.name)) call.name = name
  else if (call.pieces.length === 0) call.name += name
  if (input !== '') call.pieces.push(input)
}

/** Arguments, given in pieces, as a JSON object, wherever they are one in any guise; else as they came. */
export function wholeInput(pieces: readonly string[]): string {
  const text = pieces.join('')
  const value = parsed(text)
  if (text.trim() === '' || value === null) return '{}'
  if (typeof value === 'string') return wholeInput([value])
  return value === undefined ? (mended(text) ?? text) : text
}

/** Servers that begin with `{}` and then send the arguments, or send them in pieces and once more whole. */
function mended(text: string): string | undefined {
  const half = text.slice(0, text.length / 2)
  const rest = text.startsWith('{}') ? text.slice(2) : half + half === text ? half : undefined
  return rest !== undefined && objectOf(parsed(rest)) !== undefined ? rest : undefined
}
