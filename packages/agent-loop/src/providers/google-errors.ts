import { limitPasses } from '../http-answer.js'
import { ProviderError, type ProviderFailure } from '../provider.js'
import { retryAfterMs } from '../retry-after.js'
import { TransportFailure } from '../transport-failure.js'
import { countOf, type JsonObject, textOf } from './json-value.js'

/** What the canonical codes of Google's APIs mean (google/rpc/code.proto). Those that we don't know are the server's fault. */
const FAILURES: Readonly<Record<string, ProviderFailure>> = {
  UNAUTHENTICATED: 'key',
  PERMISSION_DENIED: 'key',
  RESOURCE_EXHAUSTED: 'busy',
  UNAVAILABLE: 'busy',
  INVALID_ARGUMENT: 'rejected',
  FAILED_PRECONDITION: 'rejected',
  OUT_OF_RANGE: 'rejected',
  NOT_FOUND: 'rejected',
  UNIMPLEMENTED: 'rejected',
}

/** What a server means that gives the number alone. */
const BY_NUMBER: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

const TOO_LONG = /token count[^.]{0,40} exceed|exceeds the maximum number of tokens/i
const LONGEST = 2000

/** Why a request failed, whatever was thrown: the transport's ProviderError, or one for what the SDK could not do. */
export function googleFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof TransportFailure) return error.thrown
  return new ProviderError('rejected', `the request could not be made: ${error instanceof Error ? error.message : String(error)}`)
}

/** What an error says that the server has put into its stream. */
export function saidFailure(error: JsonObject): ProviderError {
  const text = JSON.stringify(error)
  const message = (textOf(error.message) ?? text).slice(0, LONGEST)
  const status = textOf(error.status) ?? BY_NUMBER[countOf(error.code) ?? 0]
  const said = `the model server says: ${message}${status === undefined ? '' : ` (${status})`}`
  return new ProviderError(failureOf(status ?? '', text), said, retryAfterMs(new Headers(), text, Date.now()))
}

function failureOf(status: string, text: string): ProviderFailure {
  if (text.includes('API_KEY_INVALID')) return 'key'
  const failure = Object.hasOwn(FAILURES, status) ? (FAILURES[status] as ProviderFailure) : 'unreachable'
  if (failure === 'rejected' && TOO_LONG.test(text)) return 'too_long'
  return status === 'RESOURCE_EXHAUSTED' && /quota/i.test(text) && !limitPasses(text) ? 'quota' : failure
}
