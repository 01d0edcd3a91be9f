import type { RawMessageStreamEvent, StopReason } from '@anthropic-ai/sdk/resources/messages'
import { type ModelEvent, ProviderError, type ResponseEnd, type Usage } from '../provider.js'

type Event<Type extends RawMessageStreamEvent['type']> = Extract<RawMessageStreamEvent, { type: Type }>

/** The numbers of a usage that has come: the later ones stand for the whole response and may be missing. */
interface Numbers {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
}

/** A block that is being said. */
interface OpenBlock {
  readonly start: Event<'content_block_start'>['content_block']
  /** The pieces of a call's input, which are put together once. */
  readonly input: string[]
  signature: string
}

/** Reads one response of Anthropic's event stream. */
export class AnthropicStream {
  readonly #open = new Map<number, OpenBlock>()
  #usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }
  #reason: StopReason | undefined
  #calls = 0
  /** The event that ends it has come. */
  stopped = false

  /** Whether nothing is missing but the event that ends it. */
  get complete(): boolean {
    return this.stopped || (this.#reason !== undefined && this.#open.size === 0)
  }

  /** What an event says. */
  take(event: RawMessageStreamEvent): ModelEvent[] {
    switch (event.type) {
      case 'message_start':
        return this.#count(event.message.usage)
      case 'content_block_start':
        return this.#start(event)
      case 'content_block_delta':
        return this.#delta(event)
      case 'content_block_stop':
        return this.#stop(event.index)
      case 'message_delta':
        this.#reason = event.delta.stop_reason ?? this.#reason
        return this.#count(event.usage)
      case 'message_stop':
        this.stopped = true
        return []
      default:
        return []
    }
  }

  /** How it ended. Throws ProviderError where it was cut. */
  end(): ModelEvent[] {
    if (!this.complete || this.#reason === undefined) throw new ProviderError('cut', 'the answer of the model server ended in the middle')
    return [{ kind: 'end', reason: this.#end(this.#reason) }]
  }

  #end(reason: StopReason): ResponseEnd {
    if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'max_tokens'
    if (reason === 'refusal') return 'refusal'
    // A turn that was paused goes on when it is asked again.
    return this.#calls > 0 || reason === 'pause_turn' ? 'calls' : 'end_turn'
  }

  #count(numbers: Numbers | undefined): ModelEvent[] {
    const { input, output, cacheRead, cacheCreation } = this.#usage
    this.#usage = {
      input: numbers?.input_tokens ?? input,
      output: numbers?.output_tokens ?? output,
      cacheRead: numbers?.cache_read_input_tokens ?? cacheRead,
      cacheCreation: numbers?.cache_creation_input_tokens ?? cacheCreation,
    }
    return [{ kind: 'usage', usage: this.#usage }]
  }

  #start({ index, content_block: start }: Event<'content_block_start'>): ModelEvent[] {
    this.#open.set(index, { start, input: [], signature: start.type === 'thinking' ? (start.signature ?? '') : '' })
    if (start.type === 'text' && start.text) return [{ kind: 'text', text: start.text }]
    return start.type === 'thinking' && start.thinking ? [{ kind: 'thinking', text: start.thinking }] : []
  }

  #delta({ index, delta }: Event<'content_block_delta'>): ModelEvent[] {
    const block = this.#open.get(index)
    if (block === undefined) return []
    if (delta.type === 'text_delta') return delta.text === '' ? [] : [{ kind: 'text', text: delta.text }]
    if (delta.type === 'thinking_delta') return delta.thinking === '' ? [] : [{ kind: 'thinking', text: delta.thinking }]
    if (delta.type === 'signature_delta') block.signature += delta.signature
    if (delta.type === 'input_json_delta') block.input.push(delta.partial_json)
    return []
  }

  #stop(index: number): ModelEvent[] {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (block === undefined) return []
    const { start, signature } = block
    // Without a signature it can't be sent back, but is closed all the same: what is thought next is not its continuation.
    if (start.type === 'thinking') return [{ kind: 'thinking_end', signature }]
    if (start.type === 'redacted_thinking') return [{ kind: 'thinking_end', opaque: start.data }]
    if (start.type !== 'tool_use') return []
    this.#calls++
    return [{ kind: 'call', id: start.id, name: start.name, input: block.input.join('') || JSON.stringify(start.input ?? {}) }]
  }
}
