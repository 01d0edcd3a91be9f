/** Waits that are longer are none that anybody meant, or none that we could wait for. */
export const LONGEST_WAIT_MS = 5 * 60 * 1000

/**
 * How long a server asks to wait, in milliseconds; undefined where it doesn't say, or nothing sensible: not a number, past, longer than five
 * minutes. In the headers `retry-after-ms` or `retry-after` (seconds or a date: RFC 9110, 10.2.3), or as Google puts it into the body.
 */
export function retryAfterMs(headers: Headers, body: string, now: number): number | undefined {
  const candidates = [milliseconds(headers.get('retry-after-ms')), seconds(headers.get('retry-after')), date(headers.get('retry-after'), now), retryInfo(body)]
  return candidates.find((wait) => wait !== undefined && wait > 0 && wait <= LONGEST_WAIT_MS)
}

function milliseconds(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Math.ceil(Number(text)) : undefined
}

function seconds(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) * 1000 : undefined
}

function date(text: string | null, now: number): number | undefined {
  const time = text !== null && /[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time - now
}

function retryInfo(body: string): number | undefined {
  const [, delay] = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body) ?? []
  return delay === undefined ? undefined : Math.ceil(Number(delay) * 1000)
}
