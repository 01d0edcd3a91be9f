import { appendFileSync, chmodSync, closeSync, openSync } from 'node:fs'
import { EXIT, type ProxyServer, proxyFor, systemError } from '@agentpipe/stage'
import { EventLength } from './event-length.js'
import { checkAnswer } from './http-answer.js'
import { HttpLog } from './http-log.js'
import { ProviderError } from './provider.js'

import { TimeLimits } from './time-limits.js'
import { TransportFailure } from './transport-failure.js'

/**
 * How providers reach their servers: what a model maker's SDK is given as its `fetch`. It goes by the proxies of the environment as curl does, ends answers that
 * stay silent or take too long, and writes down what passes where --debug-http asks for it. It answers with streams that were accepted, and
 * nothing else: it throws TransportFailure for every status but 2xx, and for an answer that is no event stream. Made for one provider.
 */
export interface Transport {
  readonly fetch: typeof fetch
  /** Undefined where the server needs none. Never printed. */
  readonly key: string | undefined
  readonly baseUrl: string | undefined
}

export interface TransportSettings {
  readonly key: string | undefined
  readonly baseUrl: string | undefined
  /** Milliseconds; undefined for no limit. */
  readonly idleMs: number | undefined
  readonly totalMs: number | undefined
  /** Path of the file of --debug-http. */
  readonly logFile: string | undefined
}

/** Node's own fetch gives up after 300 seconds without a byte, which can't be told otherwise. */
const NODE_PATIENCE_MS = 295_000

/** Makes a transport. Throws StageError (73) when the file of --debug-http can't be written. */
export function makeTransport(settings: TransportSettings): Transport {
  const { key, baseUrl } = settings
  return { key, baseUrl, fetch: new Connection(settings).fetch }
}

type Send = (url: string, init: RequestInit) => Promise<Response>

class Connection {
  readonly #settings: TransportSettings
  readonly #log: HttpLog | undefined
  readonly #senders = new Map<string, Promise<Send>>()

  constructor(settings: TransportSettings) {
    this.#settings = settings
    this.#log = settings.logFile === undefined ? undefined : new HttpLog(logWriter(settings.logFile), settings.key)
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    const proxy = proxyFor(url, process.env)
    const limits = new TimeLimits(this.#settings, hostOf(url), init.signal ?? undefined)
    try {
      const send = await this.#sender(proxy)
      const exchange = this.#log?.request(url, init)
      // A key must not go to whom somebody else names.
      const answer = await limits.watch(send(url, { ...init, redirect: 'manual', signal: limits.signal }))
      exchange?.answer(answer)
      await checkAnswer(answer, url, (body) => limits.watch(body))
      return watched(answer, limits, (bytes) => exchange?.body(bytes))
    } catch (error) {
      limits.end()
      const failure = limits.reason ?? unreachable(error, url, proxy)
      throw failure instanceof ProviderError ? new TransportFailure(failure) : failure
    }
  }

  /** Node's fetch where it will do: the package `undici` costs 100 ms. */
  #sender(proxy: ProxyServer | undefined): Promise<Send> {
    const { idleMs } = this.#settings
    if (proxy === undefined && idleMs !== undefined && idleMs < NODE_PATIENCE_MS) return Promise.resolve(globalThis.fetch as Send)
    const name = proxy?.url ?? ''
    const known = this.#senders.get(name) ?? ownSender(proxy)
    this.#senders.set(name, known)
    return known
  }
}

async function ownSender(proxy: ProxyServer | undefined): Promise<Send> {
  const { Agent, ProxyAgent, fetch } = await import('undici')
  const patience = { headersTimeout: 0, bodyTimeout: 0 }
  const dispatcher = proxy === undefined ? new Agent(patience) : new ProxyAgent({ uri: proxy.url, ...patience })
  return ((url: string, init: object) => fetch(url, { ...init, dispatcher })) as unknown as Send
}

/** No frame holds as much; and readers of events gather a whole one before they look at it. */
const MOST_EVENT_BYTES = 128 * 1024 ** 2

/** An answer whose body is read as its reader asks for it, each wait under the limits. */
function watched(answer: Response, limits: TimeLimits, seen: (bytes: Uint8Array) => void): Response {
  const reader = answer.body?.getReader()
  if (reader === undefined) throw new ProviderError('cut', 'the model server answered without a body')
  const event = new EventLength()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await limits.watch(reader.read())
          if (done) {
            limits.end()
            controller.close()
          } else {
            event.add(value)
            if (event.bytes > MOST_EVENT_BYTES)
              throw new ProviderError('rejected', 'the model server sends an event of more than 128 MiB: that is no answer of a model')
            seen(value)
            controller.enqueue(value)
          }
        } catch (error) {
          limits.end()
          const known = limits.reason ?? (error instanceof ProviderError ? error : undefined)
          reader.cancel(known).catch(() => {})
          controller.error(known ?? new ProviderError('cut', `the answer of the model server broke off: ${causeOf(error)}`))
        }
      },
      cancel(reason) {
        limits.end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: answer.status, headers: answer.headers })
}

function unreachable(error: unknown, url: string, proxy: ProxyServer | undefined): unknown {
  if (error instanceof ProviderError) return error
  const way = proxy === undefined ? '' : ` through the proxy ${proxy.name} (${proxy.variable})`
  return new ProviderError('unreachable', `cannot reach the model server at ${hostOf(url)}${way}: ${causeOf(error)}`)
}

/** What the system said, at the bottom of an error of fetch. */
function causeOf(error: unknown): string {
  let cause = error
  for (let depth = 0; depth < 10 && cause instanceof Error && cause.cause instanceof Error; depth++) cause = cause.cause
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') return 'connection refused, is it running?'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no such host'
  if (cause instanceof AggregateError) return causeOf(cause.errors[0])
  return message || code || String(cause)
}

function hostOf(url: string): string {
  return new URL(url).host
}

function logWriter(path: string): (text: string) => void {
  try {
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  } catch (error) {
    throw systemError(EXIT.CANNOT_CREATE, `cannot write ${path}`, error)
  }
  return (text) => {
    try {
      appendFileSync(path, text)
    } catch {
      // A full disk must not end the session.
    }
  }
}
