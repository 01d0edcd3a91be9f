import type { GenerateContentParameters, GoogleGenAI } from '@google/genai'
import type { Settings } from '../options.js'
import type { ModelEvent, ModelRequest, Provider } from '../provider.js'
import type { Tool } from '../tool-list.js'
import type { Transport } from '../transport.js'
import { googleFailure } from './google-errors.js'
import { toolNames } from './google-names.js'
import { googleRequest } from './google-request.js'
import { type GoogleSettings, googleSettings } from './google-settings.js'
import { GoogleStream } from './google-stream.js'
import { readResponse } from './openai-connection.js'

/** Gemini's API, streamGenerateContent. Throws StageError (64) for options that it doesn't take. */
export function google(settings: Settings, transport: Transport): Provider {
  return new Google(googleSettings(settings), transport)
}

/** What models say that can't think. */
const NO_THINKING = /thinking (?:is )?not (?:supported|enabled)|does not support thinking|thinking_?config|include_?thoughts/i

class Google implements Provider {
  readonly model: string
  readonly #transport: Transport
  #settings: GoogleSettings
  #client: Promise<GoogleGenAI> | undefined

  constructor(settings: GoogleSettings, transport: Transport) {
    this.model = settings.model
    this.#settings = settings
    this.#transport = transport
  }

  /** The SDK's client, made once. */
  warmUp(): Promise<GoogleGenAI> {
    this.#client ??= connect(this.#transport)
    return this.#client
  }

  async *respond(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const names = toolNames(request.tools)
    yield* readResponse(await this.#ask(request, names, signal), new GoogleStream(names), signal)
  }

  /** Thoughts that nobody has asked for are left out once a model has refused them. */
  async #ask(request: ModelRequest, names: ReadonlyMap<string, Tool>, signal: AbortSignal): Promise<Response> {
    for (;;) {
      try {
        return await this.#send(googleRequest(request, names, this.#settings), signal)
      } catch (error) {
        signal.throwIfAborted()
        const failure = googleFailure(error)
        const { thinking, thinkingAsked } = this.#settings
        if (thinking === undefined || thinkingAsked || failure.failure !== 'rejected' || !NO_THINKING.test(failure.message)) throw failure
        this.#settings = { ...this.#settings, thinking: undefined }
      }
    }
  }

  /**
   * The answer as it came: the SDK writes requests, but where a stream was cut its reader gives what it has as if it were all. It is not given `signal`
   * either, at which it leaves a listener for every request.
   */
  async #send({ config, ...params }: GenerateContentParameters, signal: AbortSignal): Promise<Response> {
    const { models } = await this.warmUp()
    let answer: Response | undefined
    const fetch: typeof globalThis.fetch = async (url, init = {}) => {
      answer = await this.#transport.fetch(url, { ...init, headers: this.#headers(init.headers), signal })
      return answer
    }
    await models.generateContentStream({ ...params, config: { ...config, httpOptions: { fetch } } })
    return answer as Response
  }

  /** A server that needs no key is sent none. */
  #headers(given: RequestInit['headers']): Headers {
    const headers = new Headers(given)
    if (!this.#transport.key) headers.delete('x-goog-api-key')
    return headers
  }
}

async function connect({ key, baseUrl }: Transport): Promise<GoogleGenAI> {
  const { GoogleGenAI: Sdk } = await import('@google/genai')
  // Where both variables are set, the SDK prints that it takes this one: which key it takes is ours to say.
  delete process.env.GOOGLE_API_KEY
  // Without a key it would look for credentials of other programs.
  return new Sdk({ vertexai: false, apiKey: key || 'none', ...(baseUrl === undefined ? {} : { httpOptions: { baseUrl } }) })
}
