import t from 'tap'
import { ProviderError } from '../src/provider.js'
import { google } from '../src/providers/google.js'
import { makeTransport } from '../src/transport.js'
import { badKey, googleServer, perDay, perMinute, refused } from './support/google-server.js'
import type { Answer } from './support/mock-server.js'
import { requestOf, SETTINGS } from './support/provider-run.js'

t.test('what the errors of the API mean, through SDK and transport', async (t) => {
  const { mock } = await googleServer(t)
  const transport = makeTransport({ key: 'test', baseUrl: mock.url, idleMs: 10_000, totalMs: 10_000, logFile: undefined })
  const provider = google(SETTINGS, transport)
  const thrown = async (answer: Answer): Promise<unknown> => {
    mock.restart(answer)
    try {
      for await (const event of provider.respond(requestOf(), new AbortController().signal)) t.fail(event.kind)
    } catch (error) {
      return error
    }
  }
  const overloaded = refused(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE')
  const tooLong = 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
  const cases: [answer: Answer, failure: string, retryAfterMs?: number][] = [
    [badKey, 'key'],
    [refused(401, 'Request had invalid authentication credentials.', 'UNAUTHENTICATED'), 'key'],
    [refused(403, 'Your API key was reported as leaked.', 'PERMISSION_DENIED'), 'key'],
    [refused(400, 'User location is not supported for the API use.', 'FAILED_PRECONDITION'), 'rejected'],
    [refused(400, tooLong, 'INVALID_ARGUMENT'), 'too_long'],
    [refused(404, 'models/m is not found for API version v1beta', 'NOT_FOUND'), 'rejected'],
    [perMinute('17s'), 'busy', 17_000],
    [perMinute('17.25s'), 'busy', 17_250],
    [perDay('17s'), 'quota', 17_000],
    [overloaded, 'busy'],
    [refused(500, 'An internal error has occurred.', 'INTERNAL'), 'unreachable'],
    [refused(504, 'Deadline expired before operation could complete.', 'DEADLINE_EXCEEDED'), 'unreachable'],
    [{ ...overloaded, status: 200 }, 'busy'],
    [{ body: `data: ${JSON.stringify(JSON.parse(overloaded.body as string))}\r\n\r\n` }, 'busy'],
    [{ body: `${perMinute('17s').body}` }, 'busy', 17_000],
    [{ body: `[${perDay('17s').body}\n]` }, 'quota', 17_000],
    [{ body: '' }, 'cut'],
  ]
  for (const [answer, failure, retryAfterMs] of cases) {
    const error = await thrown(answer)
    t.type(error, ProviderError)
    t.match(error, { failure, retryAfterMs, message: /the model server/ }, `${answer.status} ${answer.body}`)
  }
  t.same(mock.faults, [])
})

t.test('what the SDK does not take is told', async (t) => {
  const fetch = async () => Promise.reject(new TypeError('no such thing'))
  const provider = google(SETTINGS, { fetch, key: 'k', baseUrl: undefined })
  const events = provider.respond(requestOf(), new AbortController().signal)[Symbol.asyncIterator]()
  await t.rejects(events.next(), { failure: 'rejected', message: 'the request could not be made: no such thing' })
})
