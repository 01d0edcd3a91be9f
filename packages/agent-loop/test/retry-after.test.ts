import t from 'tap'
import { backOff } from '../src/retry.js'
import { retryAfterMs } from '../src/retry-after.js'

const NOW = Date.parse('2026-12-01T12:00:00Z')

t.test('33: Retry-After in all its forms', async (t) => {
  const cases: [header: string, wait: number | undefined][] = [
    ['2', 2000],
    [' 2 ', 2000],
    ['0', undefined],
    ['soon', undefined],
    ['Tue, 01 Dec 2026 12:00:02 GMT', 2000],
    ['Tue, 01 Dec 2026 11:00:00 GMT', undefined],
    ['Tue, 01 Dec 2126 12:00:00 GMT', undefined],
    ['999999', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['NaN', undefined],
    ['1e3', undefined],
  ]
  for (const [header, wait] of cases) t.equal(retryAfterMs(new Headers({ 'retry-after': header }), '', NOW), wait, header)
  t.equal(retryAfterMs(new Headers(), '', NOW), undefined)
  t.equal(retryAfterMs(new Headers({ 'retry-after-ms': '1500', 'retry-after': '9' }), '', NOW), 1500)
  t.equal(retryAfterMs(new Headers(), '{"error":{"details":[{"retryDelay": "13.5s"}]}}', NOW), 13_500)
})

t.test('33: back-off grows, has a shortest and a longest wait, and is never nothing', async (t) => {
  for (let attempt = 1; attempt < 60; attempt++) {
    for (let count = 0; count < 20; count++) {
      const wait = backOff(attempt, 500)
      t.ok(wait >= 500 && wait <= Math.min(60_000, 500 * 2 ** attempt), `${attempt}: ${wait}`)
    }
  }
})
