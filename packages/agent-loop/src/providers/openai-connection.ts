import type { OpenAI } from 'openai'
import type { ModelEvent } from '../provider.js'
import type { Transport } from '../transport.js'
import type { ServerEvent } from './event-stream.js'
import { openAiFailure } from './openai-errors.js'
import type { OpenAiSettings } from './openai-settings.js'
import { ServerEvents } from './server-events.js'

/** The SDK wants a limit of its own; ours are the transport's. */
const NO_LIMIT_MS = 2 ** 31 - 1

/** How long an answer that is complete may take for what belongs behind its end: its usage, and the mark that nothing more comes. */
const COMPLETE_MS = 1000

/** Imports the SDK. It is only asked for whole answers: its own reader of event streams waits for connections to close. */
export async function connect({ fetch, key }: Transport, { baseUrl, official }: OpenAiSettings): Promise<OpenAI> {
  const { OpenAI: Sdk } = await import('openai')
  return new Sdk({
    apiKey: key || 'none',
    adminAPIKey: null,
    // A server that needs no key is sent none.
    ...(key ? {} : { defaultHeaders: { authorization: null } }),
    ...(official ? {} : { organization: null, project: null }),
    baseURL: baseUrl,
    fetch,
    maxRetries: 0,
    timeout: NO_LIMIT_MS,
    logLevel: 'off',
  })
}

/** What makes sense of the events of one response. */
export interface ResponseReader {
  /** Nothing is missing of what the model said. */
  readonly complete: boolean
  /** Nothing more is to come. */
  readonly finished: boolean
  /** What an event says. Throws ProviderError where it is an error. */
  take(event: ServerEvent): ModelEvent[]
  /** The rest of what was said, and where the response is complete, how it ended. */
  end(): ModelEvent[]
  /** What is thrown where it is not complete, and nothing else is known to have failed. */
  cut(): Error
}

/** The events of an answer, through `reader`, to its end: no one waits to see the connection closed. Throws ProviderError. */
export async function* readResponse(answer: Response, reader: ResponseReader, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (answer.body === null) throw reader.cut()
  const events = new ServerEvents(answer.body, signal)
  let failure: unknown
  let deadline: number | undefined
  try {
    while (!reader.finished) {
      if (reader.complete) deadline ??= performance.now() + COMPLETE_MS
      const came = await events.read(deadline === undefined ? undefined : deadline - performance.now())
      if (came === undefined) break
      for (const event of came) {
        // Not yield*, which makes promises of its own even for nothing.
        for (const said of reader.take(event)) yield said
        if (reader.finished) break
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    failure = openAiFailure(error)
  } finally {
    events.close(reader.finished)
  }
  yield* reader.end()
  if (!reader.complete) throw failure ?? reader.cut()
}
