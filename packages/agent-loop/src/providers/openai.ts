import type { OpenAI } from 'openai'
import type { Settings } from '../options.js'
import type { ModelEvent, ModelRequest, Provider } from '../provider.js'
import type { Transport } from '../transport.js'
import { connect, readResponse } from './openai-connection.js'
import { adapted, dialectOf } from './openai-dialect.js'
import { openAiFailure } from './openai-errors.js'
import { chatRequest } from './openai-request.js'
import { type OpenAiSettings, openAiSettings } from './openai-settings.js'
import { ChatStream } from './openai-stream.js'

/** OpenAI's chat completions, and the many servers that speak them. Throws StageError (64) for options that they don't take. */
export function openai(settings: Settings, transport: Transport): Provider {
  return new ChatCompletions(openAiSettings(settings, transport.baseUrl), transport)
}

class ChatCompletions implements Provider {
  readonly model: string
  readonly #settings: OpenAiSettings
  readonly #transport: Transport
  /** What the server has taught us by refusing requests is remembered. */
  #dialect: ReturnType<typeof dialectOf>
  #client: Promise<OpenAI> | undefined

  constructor(settings: OpenAiSettings, transport: Transport) {
    this.model = settings.model
    this.#settings = settings
    this.#transport = transport
    this.#dialect = dialectOf(settings.baseUrl)
    // Told now of what it can't be asked.
    chatRequest({ messages: () => [], tools: [], system: '', turn: 0, request: 0 }, settings, this.#dialect)
  }

  /** The SDK's client, made once. */
  warmUp(): Promise<OpenAI> {
    this.#client ??= connect(this.#transport, this.#settings)
    return this.#client
  }

  async *respond(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* readResponse(await this.#ask(request, signal), new ChatStream(), signal)
  }

  async #ask(request: ModelRequest, signal: AbortSignal): Promise<Response> {
    const client = await this.warmUp()
    for (;;) {
      try {
        return await client.chat.completions.create(chatRequest(request, this.#settings, this.#dialect), { signal }).asResponse()
      } catch (error) {
        signal.throwIfAborted()
        const failure = openAiFailure(error)
        const dialect = failure.failure === 'rejected' ? adapted(this.#dialect, failure.message) : undefined
        if (dialect === undefined) throw failure
        this.#dialect = dialect
      }
    }
  }
}
