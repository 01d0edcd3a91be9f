import { type Message, type MessageOf, TOLD_TO_THE_MODEL } from '@agentpipe/message'
import { type Kept, startOfKept } from './kept-items.js'

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
  /** `whole`: it was closed, by a signature or by what the model said next; only such thinking may be sent back. */
  | { readonly kind: 'thinking'; text: string; signature?: string; opaque?: string; whole: boolean }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string; readonly opaque?: string }
  | {
      readonly kind: 'result'
      readonly id: string
      readonly name: string
      readonly output: string
      readonly status: string
      readonly exitCode?: string
      /** Path of the whole output, where `output` is cut. */
      readonly fullOutput?: string
      readonly image?: Image
    }
  /** Something that the model is to know and that no call asked for: a sub-agent's result, a call that was refused. */
  | { readonly kind: 'notice'; readonly text: string }
  /** A response is whole; `model` said it. `tokens`: what its server counted, from the system prompt to its last word, where that is known. */
  | { readonly kind: 'response'; readonly model: string; readonly tokens?: number }
  | { readonly kind: 'stop'; readonly reason: string }
  /** Stands in place of everything that was said before. */
  | { readonly kind: 'summary'; readonly text: string }

type Block = Extract<Item, { kind: 'text' | 'thinking' }>

/** What the model is told when the connection was lost in the middle of its answer. */
const CUT = 'Your answer was cut off: the connection was lost. What came of it stands above. Go on from there, and do not repeat it.'

/** Usage of other requests than those of this conversation: it closes no response. */
const ASIDE: ReadonlySet<string | undefined> = new Set(['compact', 'sub_agent'])

/** Whether a USAGE closes a response of the model. Kinds that we don't know do. */
export function closesResponse({ attributes }: MessageOf<'USAGE'>): boolean {
  return !ASIDE.has(attributes.kind)
}

/**
 * A conversation, kept as it happened. The same events build it while it goes on and when it is resumed; requests to a model are made
 * of it, and are where it is made to fit.
 */
export class Conversation {
  readonly items: Item[] = []
  /** A summary stands for calls that it may never have been told of: event-store need not read what a summary stands for. */
  isPartial = false
  readonly #ids = new Set<string>()
  readonly #open = new Map<string, string>()
  /** Calls that had no result when a summary took their place. */
  readonly #swallowed = new Set<string>()
  /** Where the response that is being given begins. */
  #responseStart = 0
  /** What the model is saying. Results and notices may come in the middle of it: they do not cut it. */
  #block: Block | undefined

  /** Calls that have no result, by id: the names of their tools. */
  get openCalls(): ReadonlyMap<string, string> {
    return this.#open
  }

  /** Whether a call of this id was ever made. */
  hasCall(id: string): boolean {
    return this.#ids.has(id)
  }

  /** What came of calls, in their order; undefined for one without a result. Looks no further back than to the response that made them. */
  resultsOf(ids: readonly string[]): (Extract<Item, { kind: 'result' }> | undefined)[] {
    const found = new Map<string, Extract<Item, { kind: 'result' }>>()
    for (let at = this.items.length - 1; at >= 0 && found.size < ids.length; at--) {
      const item = this.items[at] as Item
      if (item.kind === 'call' && item.id === ids[0]) break
      if (item.kind === 'result') found.set(item.id, item)
    }
    return ids.map((id) => found.get(id))
  }

  /** Takes what happened; events that are not part of what a model sees are ignored. */
  take(event: Message): void {
    switch (event.type) {
      case 'USER_MESSAGE':
        this.items.push({ kind: 'user', text: event.text, ...imageOf(event.attributes) })
        this.#endResponse()
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
        if (!closesResponse(event)) break
        this.items.push({ kind: 'response', model: event.attributes.model ?? '', ...tokensOf(event) })
        this.#endResponse()
        break
      case 'RETRY':
        this.#void()
        break
      case 'STOP':
        this.items.push({ kind: 'stop', reason: event.reason })
        this.#endResponse()
        break
      case 'SUB_AGENT_RESULT':
        this.items.push({ kind: 'notice', text: `Sub-agent ${event.session_id} has ended (${event.status}):\n${event.text}` })
        break
      case 'ERROR':
        if (TOLD_TO_THE_MODEL.has(event.attributes.code)) this.items.push({ kind: 'notice', text: event.attributes.code === 'cut' ? CUT : event.message })
        break
      case 'CONTEXT_UPDATE':
        this.#update(event)
        break
    }
  }

  /** The model says the next thing, which closes the one before. */
  #begin<Next extends Item>(next: Next): Next {
    if (this.#block?.kind === 'thinking') this.#block.whole = true
    this.#block = undefined
    this.items.push(next)
    return next
  }

  #endResponse(): void {
    this.#block = undefined
    this.#responseStart = this.items.length
  }

  #say(text: string): void {
    if (this.#block?.kind === 'text') this.#block.text += text
    else this.#block = this.#begin({ kind: 'text', text })
  }

  #think({ text, attributes: { signature, opaque } }: MessageOf<'THINKING'>): void {
    const open = this.#block?.kind === 'thinking' && !this.#block.whole ? this.#block : undefined
    const block = open ?? this.#begin<Extract<Item, { kind: 'thinking' }>>({ kind: 'thinking', text: '', whole: false })
    this.#block = block
    block.text += text
    if (signature !== undefined) block.signature = signature
    if (opaque !== undefined) block.opaque = opaque
    if (signature !== undefined || opaque !== undefined) block.whole = true
  }

  #call({ id, name, input, attributes: { '@opaque': opaque } }: MessageOf<'TOOL_CALL'>): void {
    this.#ids.add(id)
    this.#open.set(id, name)
    this.#begin({ kind: 'call', id, name, input, ...(opaque === undefined ? {} : { opaque }) })
  }

  #result({ id, name, output, attributes }: MessageOf<'TOOL_RESULT'>): void {
    this.#open.delete(id)
    if (this.#swallowed.delete(id)) return
    const { status = 'ok', exit_code: exitCode, full_output: fullOutput } = attributes
    const known = { ...(exitCode === undefined ? {} : { exitCode }), ...(fullOutput === undefined ? {} : { fullOutput }) }
    this.items.push({ kind: 'result', id, name, output, status, ...known, ...imageOf(attributes) })
  }

  /** RETRY: what was said since the last USAGE does not count. Calls are made when a response is whole, so none is among it. */
  #void(): void {
    const kept = this.items.slice(this.#responseStart).filter(({ kind }) => kind === 'call' || kind === 'result' || kind === 'notice')
    this.items.splice(this.#responseStart, Number.POSITIVE_INFINITY, ...kept)
    this.#block = undefined
  }

  #update({ kind, attributes: { summary, kept, kept_responses: responses } }: MessageOf<'CONTEXT_UPDATE'>): void {
    if (kind === 'clear') this.#clear()
    else if (summary !== undefined) this.#summarise(summary, { turns: Number(kept ?? 0), responses: Number(responses ?? 0) })
  }

  #clear(): void {
    this.items.length = 0
    this.#open.clear()
    this.#endResponse()
  }

  #summarise(summary: string, kept: Kept): void {
    const start = startOfKept(this.items, kept)
    for (const item of this.items.slice(0, start)) if (item.kind === 'call' && this.#open.delete(item.id)) this.#swallowed.add(item.id)
    // What was counted for these responses was counted with all that stood before.
    const rest = this.items.slice(start).map((item) => (item.kind === 'response' ? { kind: item.kind, model: item.model } : item))
    this.items.length = 0
    this.items.push({ kind: 'summary', text: summary })
    for (const item of rest) this.items.push(item)
    this.#endResponse()
  }
}

function tokensOf({ input, output, cache_read: cacheRead, cache_creation: cacheCreation }: MessageOf<'USAGE'>): { tokens?: number } {
  const sum = [input, output, cacheRead, cacheCreation].reduce((total, text) => total + Number(text), 0)
  return Number.isSafeInteger(sum) && sum > 0 ? { tokens: sum } : {}
}

function imageOf({ image, image_type: type }: { readonly image?: string; readonly image_type?: string }): { image?: Image } {
  return image === undefined ? {} : { image: { data: image, type: type ?? 'image/png' } }
}
