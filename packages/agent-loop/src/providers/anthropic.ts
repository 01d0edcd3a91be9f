import type { Anthropic as Client } from '@anthropic-ai/sdk'
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages'
import type { Settings } from '../options.js'
import type { ModelEvent, ModelRequest, Provider } from '../provider.js'
import type { Transport } from '../transport.js'
import { anthropicFailure } from './anthropic-errors.js'
import { anthropicRequest } from './anthropic-request.js'
import { type AnthropicSettings, anthropicSettings } from './anthropic-settings.js'
import { AnthropicStream } from './anthropic-stream.js'

/** The SDK wants a limit of its own; ours are the transport's. */
const NO_LIMIT_MS = 2 ** 31 - 1

/** Later versions of the API know no temperature. */
const WITH_TEMPERATURE = { 'anthropic-version': '2023-06-01' }

/** How long an answer that has said everything may take to end, so that its connection can be used again. */
const CLOSING_MS = 200

/** Anthropic's Messages API, and servers that speak it. Throws StageError (64) for options that it doesn't take. */
export function anthropic(settings: Settings, transport: Transport): Provider {
  const ours = anthropicSettings(settings, () => 32_000)
  return new Anthropic(ours, transport)
}

class Anthropic implements Provider {
  readonly model: string
  readonly #settings: AnthropicSettings
  readonly #transport: Transport
  #client: Promise<Client> | undefined

  constructor(settings: AnthropicSettings, transport: Transport) {
    this.model = settings.model
    this.#settings = settings
    this.#transport = transport
  }

  /** The SDK's client, made once. */
  warmUp(): Promise<Client> {
    this.#client ??= connect(this.#transport)
    return this.#client
  }

  async *respond(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const client = await this.warmUp()
    const response = new AnthropicStream()
    try {
      const headers = this.#settings.temperature === undefined ? {} : WITH_TEMPERATURE
      const answer = await client.messages.create(anthropicRequest(request, this.#settings), { signal, headers })
      for await (const event of untilStopped(answer, answer.controller)) yield* response.take(event)
    } catch (error) {
      if (!response.complete) throw anthropicFailure(error)
    }
    yield* response.end()
  }
}

/** The events up to the last one, for which nobody waits to see the connection closed. */
async function* untilStopped(events: AsyncIterable<RawMessageStreamEvent>, request: AbortController): AsyncGenerator<RawMessageStreamEvent> {
  const iterator = events[Symbol.asyncIterator]()
  let stopped = false
  try {
    while (!stopped) {
      const { value, done } = await iterator.next()
      if (done) return
      stopped = value.type === 'message_stop'
      yield value
    }
  } finally {
    if (stopped) finish(iterator, request)
    else request.abort()
  }
}

function finish(iterator: AsyncIterator<unknown>, request: AbortController): void {
  const limit = setTimeout(() => request.abort(), CLOSING_MS)
  iterator
    .next()
    .catch(() => {})
    .finally(() => clearTimeout(limit))
}

/** The SDK sends a key as a bearer; x-api-key is what Anthropic's API takes as well, and all that many servers know that speak like it. */
async function connect({ fetch, key, baseUrl }: Transport): Promise<Client> {
  const { Anthropic: Sdk } = await import('@anthropic-ai/sdk')
  const token = key === undefined ? process.env.ANTHROPIC_AUTH_TOKEN : undefined
  return new Sdk({
    // Without either it would look for credentials of other programs.
    ...(token ? { authToken: token } : { apiKey: key ?? '', defaultHeaders: { 'x-api-key': key ?? null, authorization: null } }),
    baseURL: baseUrl ?? null,
    fetch,
    maxRetries: 0,
    timeout: NO_LIMIT_MS,
    logLevel: 'off',
  })
}
