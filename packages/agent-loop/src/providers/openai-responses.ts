import { usage } from '@agentpipe/stage'
import type { OpenAI } from 'openai'
import type { Settings } from '../options.js'
import type { ModelEvent, ModelRequest, Provider } from '../provider.js'
import type { Transport } from '../transport.js'
import { connect, readResponse } from './openai-connection.js'
import { openAiFailure } from './openai-errors.js'
import { type OpenAiSettings, openAiSettings } from './openai-settings.js'
import { adaptedResponses, type ResponsesDialect, responsesDialect, responsesRequest } from './responses-request.js'
import { ResponsesStream } from './responses-stream.js'

/** OpenAI's Responses API, used so that its servers store nothing. Throws StageError (64) for options that it doesn't take. */
export function openaiResponses(settings: Settings, transport: Transport): Provider {
  return new Responses(openAiSettings(settings, transport.baseUrl), transport)
}

class Responses implements Provider {
  readonly model: string
  readonly #settings: OpenAiSettings
  readonly #transport: Transport
  #dialect: ResponsesDialect
  #client: Promise<OpenAI> | undefined

  constructor(settings: OpenAiSettings, transport: Transport) {
    const { model, thinking } = settings
    if (typeof thinking === 'number') throw usage(`--thinking ${thinking}: OpenAI's models take no number of tokens; --effort low, medium or high`)
    this.model = model
    this.#settings = settings
    this.#transport = transport
    this.#dialect = responsesDialect(settings)
  }

  /** The SDK's client, made once. */
  warmUp(): Promise<OpenAI> {
    this.#client ??= connect(this.#transport, this.#settings)
    return this.#client
  }

  async *respond(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* readResponse(await this.#ask(request, signal), new ResponsesStream(), signal)
  }

  async #ask(request: ModelRequest, signal: AbortSignal): Promise<Response> {
    const client = await this.warmUp()
    for (;;) {
      try {
        return await client.responses.create(responsesRequest(request, this.#settings, this.#dialect), { signal }).asResponse()
      } catch (error) {
        signal.throwIfAborted()
        const failure = openAiFailure(error)
        const dialect = failure.failure === 'rejected' ? adaptedResponses(this.#dialect, failure.message) : undefined
        if (dialect === undefined) throw failure
        this.#dialect = dialect
      }
    }
  }
}
