import { ProviderError, type ProviderFailure } from './provider.js'
import { retryAfterMs } from './retry-after.js'

/** How much of an answer that is no stream is read. */
const LONGEST_READ = 64 * 1024
const LONGEST_SHOWN = 300

const TOO_LONG =
  /prompt is too long|context_length_exceeded|exceed_context_size|(?:context|token)s? (?:window|length|size|limit)|(?:prompt|input|request)[^.]{0,60} too (?:long|large|many)|too many (?:total )?tokens|input tokens? (?:count )?[^.]{0,30}exceed|exceeds?[^.]{0,60}(?:context|maximum number of tokens)/i
const KEY =
  /api[_ -]?key[^.]{0,40}(?:invalid|not valid|incorrect|missing)|(?:invalid|incorrect|missing)[^.]{0,20}api[_ -]?key|API_KEY_INVALID|authentication|unauthorized/i
/** Limits that no waiting lifts: a bill is to be paid. */
const QUOTA = /insufficient_quota|billing|credit balance|exceeded your current quota|payment/i

/** Throws ProviderError unless an answer is a stream that was accepted. `watch` limits the time of reading what it is instead. */
export async function checkAnswer(answer: Response, url: string, watch: <Value>(wait: Promise<Value>) => Promise<Value>): Promise<void> {
  const kind = answer.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (answer.ok && kind !== 'application/json' && kind !== 'text/html') return
  const text = await readSome(answer, watch)
  if (answer.status >= 300 && answer.status < 400) {
    throw new ProviderError(
      'rejected',
      `the model server at ${new URL(url).host} redirects to ${shown(answer.headers.get('location') ?? 'nowhere')}: give that as --base-url`,
    )
  }
  const said = errorOf(text)
  const what = said === undefined ? (text.trim() === '' ? '' : `: ${shown(text)}`) : `: ${shown(said)}`
  if (answer.ok)
    throw new ProviderError(
      said === undefined ? 'unreachable' : failureOf(500, text),
      `the model server sent ${kind || 'something'} in place of a stream${what}`,
    )
  const failure = failureOf(answer.status, text)
  throw new ProviderError(
    failure,
    `the model server answers ${answer.status}${what}${advice(failure, answer.status, url)}`,
    retryAfterMs(answer.headers, text, Date.now()),
  )
}

/** Whether a limit that was reached is one by the minute: Google's errors speak of quota and billing then, too. */
export function limitPasses(text: string): boolean {
  return /"retryDelay"/.test(text) && !/PerDay/i.test(text)
}

function failureOf(status: number, text: string): ProviderFailure {
  if (status === 401 || status === 403 || KEY.test(text.slice(0, 4096))) return 'key'
  if (status === 402 || (status === 429 && QUOTA.test(text) && !limitPasses(text))) return 'quota'
  if (/overloaded|rate_?limit|RESOURCE_EXHAUSTED|UNAVAILABLE/i.test(text) || status === 429 || status === 529 || status === 503) return 'busy'
  if (TOO_LONG.test(text)) return 'too_long'
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'unreachable'
  return status === 413 ? 'too_long' : 'rejected'
}

function advice(failure: ProviderFailure, status: number, url: string): string {
  if (failure === 'key') return '; the key was refused'
  return status === 404 ? `; is the model's name right, and the URL ${shown(url.replace(/[?].*/, ''))}?` : ''
}

async function readSome(answer: Response, watch: <Value>(wait: Promise<Value>) => Promise<Value>): Promise<string> {
  const reader = answer.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    while (bytes < LONGEST_READ) {
      const { done, value } = await watch(reader.read())
      if (done) break
      chunks.push(value)
      bytes += value.length
    }
  } catch {
    // What there is must do.
  }
  reader.cancel().catch(() => {})
  return Buffer.concat(chunks).toString()
}

/** The message of an error as JSON, in any of the forms that servers know. */
function errorOf(text: string): string | undefined {
  try {
    const value = JSON.parse(text)
    const [first = value] = Array.isArray(value) ? value : [value]
    const error = first?.error ?? first
    const message = typeof error === 'string' ? error : (error?.message ?? first?.message ?? first?.detail)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

/** On one line, without tags, cut. */
function shown(text: string): string {
  const line = text
    .replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<[^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}...` : line
}
