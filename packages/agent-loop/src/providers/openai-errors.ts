import { ProviderError, type ProviderFailure } from '../provider.js'
import { TransportFailure } from '../transport-failure.js'
import { countOf, type JsonObject, objectOf, textOf } from './json-value.js'

/** What codes and types of errors mean, in the words of OpenAI and of servers that speak its API. */
const FAILURES: readonly (readonly [pattern: RegExp, failure: ProviderFailure])[] = [
  [/context_length_exceeded|exceed_context_size|string_above_max_length/, 'too_long'],
  [/insufficient_quota|billing|invalid_api_key|authentication|unauthorized|permission/i, 'key'],
  [/rate_?limit|overloaded|slow_down|too_?many_?requests|capacity/i, 'busy'],
  [/invalid_|bad_?request|not_found|unsupported|_policy|image_/i, 'rejected'],
]

const TOO_LONG =
  /(?:context|token)s? (?:window|length|size|limit)|(?:prompt|input|request)[^.]{0,40} (?:too long|too large)|too many tokens|input tokens exceed|exceeds?[^.]{0,60}context/i
const LONGEST = 2000

/** Why a request failed, whatever was thrown: the transport's ProviderError, or one for a connection that broke. */
export function openAiFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) return refined(error)
  if (error instanceof TransportFailure) return openAiFailure(error.thrown)
  const { status, message } = error as { status?: unknown; message?: unknown }
  if (typeof status === 'number') return saidFailure({ status, message })
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) return openAiFailure(cause)
  return new ProviderError('cut', `the answer of the model server broke off: ${error instanceof Error ? error.message : String(error)}`)
}

function refined(error: ProviderError): ProviderError {
  return error.failure === 'rejected' && TOO_LONG.test(error.message) ? new ProviderError('too_long', error.message) : error
}

/** What an error says that a server has put into its stream: an object, or only words. */
export function saidFailure(said: unknown): ProviderError {
  const error = objectOf(said) ?? {}
  const kind = [error.code, error.type].find((each) => typeof each === 'string' && each !== '') as string | undefined
  const message = textOf(objectOf(error.metadata)?.raw) ?? textOf(error.message) ?? (typeof said === 'string' ? said : JSON.stringify(said))
  const text = message.slice(0, LONGEST)
  return new ProviderError(failureOf(error, text), `the model server says: ${text}${kind === undefined ? '' : ` (${kind})`}`)
}

function failureOf(error: JsonObject, message: string): ProviderFailure {
  const words = [error.code, error.type].filter((each) => typeof each === 'string').join(' ')
  const status = countOf(error.code) ?? countOf(error.status) ?? 500
  const failure = FAILURES.find(([pattern]) => pattern.test(words))?.[1] ?? byStatus(status)
  return failure === 'rejected' && TOO_LONG.test(message) ? 'too_long' : failure
}

function byStatus(status: number): ProviderFailure {
  if (status === 401 || status === 402 || status === 403) return 'key'
  if (status === 429 || status === 529 || status === 503) return 'busy'
  if (status === 413) return 'too_long'
  return status >= 400 && status < 500 && status !== 408 ? 'rejected' : 'unreachable'
}
