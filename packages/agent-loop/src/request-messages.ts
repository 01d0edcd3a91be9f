import type { Image, Item } from './conversation.js'

/** A part of what the user's side says. A result's `output` is never blank. */
export type UserBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  | { readonly kind: 'result'; readonly id: string; readonly name: string; readonly output: string; readonly failed: boolean; readonly image?: Image }

/** A part of what the model said. `input` is a JSON object, as text. */
export type ModelBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature?: string; readonly opaque?: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly opaque?: string }

/** A message of a request, in the form that every model server's can be written from. Never without blocks. */
export type RequestMessage =
  | { readonly role: 'user'; readonly blocks: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly model: string; readonly blocks: readonly ModelBlock[] }

/**
 * The conversation as a model server takes it: user and assistant take turns, the user first and last; every call has exactly one result, in
 * the order of the calls, at the beginning of the very next message; no blank text; thinking whole or left out, and of `model` only.
 * `mended` is told of each thing that was not so in the conversation. A conversation without faults is given unchanged.
 */
export function requestMessages(items: readonly Item[], model: string, mended: (what: string) => void): RequestMessage[] {
  return new Builder(model, mended).build(items)
}

class Builder {
  readonly #model: string
  readonly #mended: (what: string) => void

  constructor(model: string, mended: (what: string) => void) {
    this.#model = model
    this.#mended = mended
  }

  build(_items: readonly Item[]): RequestMessage[] {
    throw new Error(`${this.#model}${this.#mended}`)
  }
}
