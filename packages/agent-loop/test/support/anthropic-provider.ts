import type { Settings } from '../../src/options.js'
import type { ModelEvent, ModelRequest, Provider } from '../../src/provider.js'
import { anthropic } from '../../src/providers/anthropic.js'
import type { RequestMessage } from '../../src/request-messages.js'

export const HI: readonly RequestMessage[] = [{ role: 'user', blocks: [{ kind: 'text', text: 'hi' }] }]

/** The provider, whose server answers each request with these pieces of a stream, or the pieces that it is given then. */
export function provider(given: Iterable<Uint8Array> | (() => Iterable<Uint8Array>), settings: Partial<Settings> = {}, bodies: string[] = []): Provider {
  const answer: typeof fetch = async (_, init) => {
    bodies.push(init?.body as string)
    return new Response(ReadableStream.from(typeof given === 'function' ? given() : given), { headers: { 'content-type': 'text/event-stream' } })
  }
  return anthropic({ model: 'm', ...settings } as Settings, { fetch: answer, key: 'k', baseUrl: 'http://127.0.0.1:1' })
}

/** What it says to one request, and how that failed, as the kind of failure. */
export async function ask(
  asked: Provider,
  request: Partial<ModelRequest> = {},
): Promise<{ said: ModelEvent[]; failure: string | undefined; message?: string }> {
  const said: ModelEvent[] = []
  try {
    const whole = { messages: () => HI, tools: [], system: '', turn: 0, request: 0, ...request }
    for await (const event of asked.respond(whole, new AbortController().signal)) said.push(event)
    return { said, failure: undefined }
  } catch (error) {
    const { failure, message } = error as { failure?: string; message: string }
    return { said, failure: failure ?? String(error), message }
  }
}

/** Events without the cuts in text and thinking, and the numbers of usage so far: what does not depend on how the bytes came. */
export function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const list: ModelEvent[] = []
  for (const event of events) {
    const last = list.at(-1)
    if ((event.kind === 'text' || event.kind === 'thinking') && last?.kind === event.kind)
      list[list.length - 1] = { kind: event.kind, text: last.text + event.text }
    else list.push(event)
  }
  return list.filter(({ kind }, at) => kind !== 'usage' || !list.slice(at + 1).some((later) => later.kind === 'usage'))
}
