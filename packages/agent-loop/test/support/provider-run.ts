import type { Settings } from '../../src/options.js'
import type { ModelEvent, ModelRequest, Provider } from '../../src/provider.js'
import { type ResponseReader, readResponse } from '../../src/providers/openai-connection.js'
import { type RequestMessage, requestMessages } from '../../src/request-messages.js'
import type { Tool } from '../../src/tool-list.js'
import type { Transport } from '../../src/transport.js'

/** What a provider gave for one answer, pieces of text put together, and what it threw. */
export interface Given {
  readonly text: string
  readonly thinking: string
  readonly opaque: readonly string[]
  readonly calls: readonly Extract<ModelEvent, { kind: 'call' }>[]
  readonly usage: readonly (number | string)[]
  readonly end: string | undefined
  /** Failure and message. */
  readonly error: string | undefined
}

export type Make = (settings: Settings, transport: Transport) => Provider

export const SETTINGS = { model: 'm' } as unknown as Settings

/** What a reader makes of an answer that comes in these pieces. */
export function read(reader: ResponseReader, pieces: readonly Uint8Array[]): Promise<Given> {
  return collect(readResponse(new Response(streamOf(pieces, true)), reader, new AbortController().signal))
}

/** A transport whose every answer is a stream of these pieces; `ends`: whether it ends behind them. */
export function answering(pieces: readonly (string | Uint8Array)[], ends = true): Transport {
  const fetch = async () => new Response(streamOf(pieces, ends), { headers: { 'content-type': 'text/event-stream' } })
  return { fetch, key: 'k', baseUrl: 'http://127.0.0.1:1/v1' }
}

function streamOf(pieces: readonly (string | Uint8Array)[], ends: boolean): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? Buffer.from(piece) : piece)
      if (ends) controller.close()
    },
  })
}

export function requestOf(messages?: readonly RequestMessage[], tools: readonly Tool[] = [], system = ''): ModelRequest {
  return { messages: () => messages ?? requestMessages([{ kind: 'user', text: 'hi' }], 'm', () => {}), tools, system, turn: 0, request: 0 }
}

/** What a provider makes of an answer. */
export async function given(make: Make, transport: Transport, request = requestOf(), settings: Settings = SETTINGS): Promise<Given> {
  return collect(make(settings, transport).respond(request, new AbortController().signal))
}

/** What the events of one response come to. */
export async function collect(events: AsyncIterable<ModelEvent>): Promise<Given> {
  const said: ModelEvent[] = []
  let error: string | undefined
  try {
    for await (const event of events) said.push(event)
  } catch (thrown) {
    error = `${(thrown as { failure?: string }).failure}: ${(thrown as Error).message}`
  }
  const texts = (kind: 'text' | 'thinking') => said.flatMap((event) => (event.kind === kind ? [event.text] : [])).join('')
  const usage = said.filter((event) => event.kind === 'usage').at(-1)?.usage
  return {
    text: texts('text'),
    thinking: texts('thinking'),
    opaque: said.flatMap((event) => (event.kind === 'thinking_end' ? [event.opaque ?? ''] : [])),
    calls: said.filter((event) => event.kind === 'call'),
    usage: usage === undefined ? [] : [usage.input, usage.output, usage.cacheRead, usage.cacheCreation],
    end: said.find((event) => event.kind === 'end')?.reason,
    error,
  }
}

/** Values as the data of a stream's events; strings as they are. */
export function data(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('')
}
