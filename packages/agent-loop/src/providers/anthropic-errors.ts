import { ProviderError, type ProviderFailure } from '../provider.js'
import { TransportFailure } from '../transport-failure.js'

/** What each type of error of Anthropic's API means. Types that we don't know are the server's fault. */
const FAILURES: Readonly<Record<string, ProviderFailure>> = {
  authentication_error: 'key',
  permission_error: 'key',
  billing_error: 'key',
  overloaded_error: 'busy',
  rate_limit_error: 'busy',
  request_too_large: 'too_long',
  invalid_request_error: 'rejected',
  not_found_error: 'rejected',
}

const TOO_LONG = /prompt is too long|context (?:window|limit|length)|too many (?:total )?tokens/i
const LONGEST = 2000

/** An error of the SDK, as far as we look at it. */
interface SdkError extends Error {
  readonly type?: string | null
  readonly status?: number
  readonly apiMessage?: string | null
}

/** Why a request failed, whatever the SDK threw: the ProviderError that is at the bottom of it, or one made of what the server said. */
export function anthropicFailure(error: unknown): ProviderError {
  for (const each of causes(error)) {
    if (each instanceof ProviderError) return each
    if (each instanceof TransportFailure) return each.thrown
  }
  const { type, status, apiMessage, message } = error as SdkError
  if (type == null && status === undefined)
    return new ProviderError('cut', `the answer of the model server broke off: ${causes(error).at(-1)?.message ?? String(error)}`)
  const said = (apiMessage ?? message).slice(0, LONGEST)
  return new ProviderError(failureOf(type ?? '', status ?? 200, said), `the model server says: ${said}${type == null ? '' : ` (${type})`}`)
}

function failureOf(type: string, status: number, said: string): ProviderFailure {
  const failure = FAILURES[type] ?? byStatus(status)
  return failure === 'rejected' && TOO_LONG.test(said) ? 'too_long' : failure
}

function byStatus(status: number): ProviderFailure {
  if (status === 401 || status === 403) return 'key'
  if (status === 429 || status === 529) return 'busy'
  if (status === 413) return 'too_long'
  return status >= 400 && status < 500 ? 'rejected' : 'unreachable'
}

function causes(error: unknown): Error[] {
  const list: Error[] = []
  for (let each = error; each instanceof Error && list.length < 10; each = each.cause) list.push(each)
  return list
}
