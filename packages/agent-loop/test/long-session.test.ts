import { isDeepStrictEqual } from 'node:util'
import type { FieldValue } from '@agentpipe/frame'
import t from 'tap'
import { AnthropicServer, says as anthropicSays } from './support/anthropic-server.js'
import { says as googleSays, googleServer } from './support/google-server.js'
import type { Answer, MockServer } from './support/mock-server.js'
import { chatSays, openAiServer, responsesSays } from './support/openai-server.js'
import { Ring } from './support/ring.js'

/** `make soak` asks for more. */
const TURNS = Number(process.env.SESSION_TURNS ?? 12)
const IMAGE = ['image', 'R0lGODdh', 'image_type', 'image/gif']

interface Test {
  teardown(work: () => unknown): void
}

interface Api {
  readonly start: (t: Test) => Promise<{ mock: MockServer; env: Readonly<Record<string, string>> }>
  /** The two responses of a turn: thinking, text and calls side by side, then a last word. */
  readonly turn: (number: number) => readonly Answer[]
  /** What a request says, in its order. */
  readonly messages: (body: never) => readonly unknown[]
}

/** Results that are to come, and all that came. */
const waiting: string[][] = []
const results: string[][] = []

const input = (number: number) => JSON.stringify({ n: number, text: 'é\u2028😀' })

const APIS: Readonly<Record<string, Api>> = {
  anthropic: {
    async start(t) {
      const { mock, env } = await AnthropicServer.start(t)
      return { mock, env }
    },
    turn: (n) => [
      anthropicSays(
        { thinking: `I think \u2028😀 ${n}`, signature: `c2ln${n}A` },
        { redacted: `cmVk${n}` },
        { text: `Both, ${n}.` },
        { id: `a${n}`, name: 'Do', input: input(n) },
        { id: `b${n}`, name: 'Look', input: '{}' },
      ),
      anthropicSays({ thinking: '', signature: `ZW1w${n}A` }, { text: `Done ${n}.` }),
    ],
    messages: ({ messages }: { messages: readonly unknown[] }) => withoutMarks(messages),
  },
  openai: {
    start: (t) => openAiServer(t, 'chat'),
    turn: (n) => [
      chatSays({ thinking: `I think ${n}` }, { text: `Both, ${n}.` }, { call: 'Do', id: `a${n}`, input: input(n) }, { call: 'Look', id: `b${n}`, input: '{}' }),
      chatSays({ text: `Done ${n}.` }),
    ],
    messages: ({ messages }: { messages: readonly unknown[] }) => messages,
  },
  'openai-responses': {
    start: (t) => openAiServer(t, 'responses'),
    turn: (n) => [
      responsesSays(
        { thinking: `I think ${n}`, id: `rs${n}` },
        { text: `Both, ${n}.` },
        { call: 'Do', id: `a${n}`, input: input(n) },
        { call: 'Look', id: `b${n}`, input: '{}' },
      ),
      responsesSays({ thinking: `again ${n}`, id: `rt${n}` }, { text: `Done ${n}.` }),
    ],
    messages: ({ input }: { input: readonly unknown[] }) => input,
  },
  google: {
    start: googleServer,
    turn: (n) => [
      googleSays(
        { thinking: `I think ${n}` },
        { text: `Both, ${n}.` },
        { call: 'Do', args: JSON.parse(input(n)), signature: `c2ln${n}` },
        { call: 'Look', args: { n } },
      ),
      googleSays({ text: `Done ${n}.`, signature: `dGV4${n}` }),
    ],
    messages: ({ contents }: { contents: readonly unknown[] }) => contents,
  },
}

for (const [name, { start, turn, messages }] of Object.entries(APIS)) {
  t.test(`${name}: ${TURNS} turns with thinking, calls side by side and images, then resumed`, async (t) => {
    results.length = 0
    const { mock, env } = await start(t)
    const options = { env, args: ['--model=m', '--no-context'], tools: ['Do', 'Look'], answer }
    const ring = new Ring(t, undefined, options)
    for (let number = 0; number < TURNS; number++) {
      mock.answer(...turn(number))
      ring.send(['USER_INPUT', `prompt ${number}`, ...(number % 3 === 0 ? IMAGE : [])])
      const stop = await ring.until('STOP', number + 1)
      if (stop[1] !== 'end_turn') return t.fail(`turn ${number}`, { stop, errors: ring.all('ERROR'), faults: mock.faults })
    }
    ring.send(['END'])
    t.match(await ring.ended, { status: 0, stderr: '' })
    t.same(mock.faults, [], 'the server had nothing to refuse')
    t.equal(mock.requests.length, TURNS * 2)
    const asked = mock.bodies.map((body) => messages(body as never))
    const broken = asked.findIndex((list, at) => at > 0 && !isDeepStrictEqual(list.slice(0, asked[at - 1]?.length), asked[at - 1]))
    t.equal(broken, -1, 'each request begins with all of the one before')

    mock.restart(...turn(TURNS))
    const resumed = new Ring(t, undefined, options)
    resumed.send(...recorded(ring.sent), ['USER_INPUT', 'and now'], ['END'])
    t.match(await resumed.ended, { status: 0, stderr: '' })
    t.same(mock.faults, [])
    t.same(messages(mock.bodies.at(-2) as never).slice(0, asked.at(-1)?.length), asked.at(-1), 'the request of a resumed session goes on from the last one')
  })
}

/** One tool does what it is asked, one fails, and the first gives a picture. The second answers first. */
function answer(name: string, id: string): readonly (readonly FieldValue[])[] | undefined {
  const pictured = name === 'Do'
  waiting.unshift(['TOOL_RESULT', id, name, pictured ? `did ${id}` : '', 'status', pictured ? 'ok' : 'error', ...(pictured ? IMAGE : [])])
  if (pictured) return undefined
  results.push(...waiting)
  return waiting.splice(0)
}

/** The session as event-store history gives it: behind the response that called, the results. */
function recorded(sent: readonly (readonly string[])[]): string[][] {
  const calls = new Set<string>()
  return sent.flatMap((fields) => {
    const [type, , id = ''] = fields
    if (type === 'HELLO') return []
    if (type === 'TOOL_CALL') calls.add(id)
    const frames = type === 'USAGE' ? [fields, ...results.filter(([, of = '']) => calls.delete(of))] : [fields]
    return frames.map((frame) => ['HISTORY', ...frame])
  })
}

/** Marks of the prompt cache move on from request to request. */
function withoutMarks(value: readonly unknown[]): readonly unknown[] {
  return JSON.parse(JSON.stringify(value, (key, member) => (key === 'cache_control' ? undefined : member)))
}
