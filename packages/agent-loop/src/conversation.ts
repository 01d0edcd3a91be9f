import type { Message, MessageOf } from '@agentpipe/message'

export interface Image {
  /** Base64. */
  readonly data: string
  /** Media type, image/png. */
  readonly type: string
}

/** One thing that happened, as the events of messages(7) tell it. */
export type Item =
  | { readonly kind: 'user'; readonly text: string; readonly image?: Image }
  | { readonly kind: 'text'; text: string }
  /** `whole`: it was closed, by a signature or by what followed; only such thinking may be sent back. */
  | { readonly kind: 'thinking'; text: string; signature?: string; opaque?: string; whole: boolean }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly opaque?: string }
  | { readonly kind: 'result'; readonly id: string; readonly name: string; readonly output: string; readonly status: string; readonly image?: Image }
  /** Something that the model is to know and that no call asked for: a sub-agent's result, a call that was refused. */
  | { readonly kind: 'notice'; readonly text: string }
  /** A response is whole; `model` said it. */
  | { readonly kind: 'response'; readonly model: string }
  | { readonly kind: 'stop'; readonly reason: string }
  /** Stands in place of everything before the `kept` turns in front of it. */
  | { readonly kind: 'summary'; readonly text: string; readonly kept: number }

/**
 * A conversation, kept as it happened. The same events build it while it goes on and when it is resumed; requests to a model are made
 * of it, and are where it is made to fit.
 */
export class Conversation {
  readonly items: Item[] = []
  readonly #ids = new Set<string>()
  readonly #open = new Map<string, string>()
  /** Where the response that is being given begins. */
  #responseStart = 0

  /** Calls that have no result, by id: the names of their tools. */
  get openCalls(): ReadonlyMap<string, string> {
    return this.#open
  }

  /** Whether a call of this id was ever made. */
  hasCall(id: string): boolean {
    return this.#ids.has(id)
  }

  clear(): void {
    this.items.length = 0
    this.#open.clear()
    this.#responseStart = 0
  }

  /** Takes what happened; events that are not part of what a model sees are ignored. */
  take(event: Message): void {
    switch (event.type) {
      case 'USER_MESSAGE':
        this.#push({ kind: 'user', text: event.text, ...imageOf(event.attributes) })
        this.#responseStart = this.items.length
        break
      case 'TEXT':
        this.#say(event.text)
        break
      case 'THINKING':
        this.#think(event)
        break
      case 'TOOL_CALL':
        this.#call(event)
        break
      case 'TOOL_RESULT':
        this.#result(event)
        break
      case 'USAGE':
        this.#push({ kind: 'response', model: event.attributes.model ?? '' })
        this.#responseStart = this.items.length
        break
      case 'RETRY':
        this.#void()
        break
      case 'STOP':
        this.#push({ kind: 'stop', reason: event.reason })
        this.#responseStart = this.items.length
        break
      case 'SUB_AGENT_RESULT':
        this.#push({ kind: 'notice', text: `Sub-agent ${event.session_id} has ended (${event.status}):\n${event.text}` })
        break
      case 'ERROR':
        if (event.attributes.code === 'bad_call') this.#push({ kind: 'notice', text: event.message })
        break
      case 'CONTEXT_UPDATE':
        this.#summarise(event)
        break
    }
  }

  #push(item: Item): void {
    const last = this.items.at(-1)
    if (last?.kind === 'thinking') last.whole = true
    this.items.push(item)
  }

  #say(text: string): void {
    const last = this.items.at(-1)
    if (last?.kind === 'text') last.text += text
    else this.#push({ kind: 'text', text })
  }

  #think({ text, attributes: { signature, opaque } }: MessageOf<'THINKING'>): void {
    const last = this.items.at(-1)
    const block: Item = last?.kind === 'thinking' && !last.whole ? last : { kind: 'thinking', text: '', whole: false }
    if (block !== last) this.#push(block)
    block.text += text
    if (signature !== undefined) block.signature = signature
    if (opaque !== undefined) block.opaque = opaque
    if (signature !== undefined || opaque !== undefined) block.whole = true
  }

  #call({ id, name, input, attributes: { '@opaque': opaque } }: MessageOf<'TOOL_CALL'>): void {
    this.#ids.add(id)
    this.#open.set(id, name)
    this.#push({ kind: 'call', id, name, input, ...(opaque === undefined ? {} : { opaque }) })
  }

  #result({ id, name, output, attributes }: MessageOf<'TOOL_RESULT'>): void {
    if (!this.#open.delete(id)) return
    this.#push({ kind: 'result', id, name, output, status: attributes.status ?? 'ok', ...imageOf(attributes) })
  }

  /** RETRY: what was said since the last USAGE does not count. Calls are made when a response is whole, so none is among it. */
  #void(): void {
    const kept = this.items.slice(this.#responseStart).filter(({ kind }) => kind === 'call' || kind === 'result' || kind === 'notice')
    this.items.splice(this.#responseStart, Number.POSITIVE_INFINITY, ...kept)
  }

  #summarise({ attributes: { summary, kept } }: MessageOf<'CONTEXT_UPDATE'>): void {
    if (summary === undefined) return
    const turns = Number(kept ?? 0)
    const starts = this.items.flatMap(({ kind }, index) => (kind === 'user' ? [index] : []))
    const start = turns > 0 ? (starts.at(-turns) ?? 0) : this.items.length
    this.items.splice(0, start, { kind: 'summary', text: summary, kept: turns })
    this.#responseStart = this.items.length
  }
}

function imageOf({ image, image_type: type }: { readonly image?: string; readonly image_type?: string }): { image?: Image } {
  return image === undefined ? {} : { image: { data: image, type: type ?? 'image/png' } }
}
