import { messageFields, parseObject } from '@agentpipe/message'
import { callId } from './call-ids.js'
import { unlessAborted } from './gate.js'
import type { Journal } from './journal.js'
import { type ModelEvent, type ModelRequest, type Provider, ProviderError, type ResponseEnd, type Usage } from './provider.js'
import type { ToolList } from './tool-list.js'
import { NO_USAGE, usageFields } from './usage.js'

type Call = Extract<ModelEvent, { kind: 'call' }>

/** A call of the model: the id under which it went round, undefined where it was refused, its tool and its input. */
export interface Made {
  readonly id: string | undefined
  readonly name: string
  readonly input: string
}

/** How a response ended, and the calls of it. */
export interface Response {
  readonly end: ResponseEnd
  readonly calls: readonly Made[]
}

/**
 * One response of the model, as frames: what it says as it says it, its calls once it is whole, USAGE at its end however it ends; nothing for a request that
 * was too long.
 * Throws what the provider throws, ProviderError or anything else once `signal` is aborted.
 */
export async function takeResponse(provider: Provider, request: ModelRequest, { journal, tools }: Around, signal: AbortSignal): Promise<Response> {
  const heard: Heard = { calls: [], usage: NO_USAGE, end: 'end_turn' }
  let refused = false
  try {
    // A server that hangs, and an SDK that does not let go of it, hold nobody up.
    await unlessAborted(hear(provider, request, journal, signal, heard), signal)
    signal.throwIfAborted()
    const { end, calls } = heard
    // A response that was cut by a limit may have cut its last call.
    return { end, calls: end === 'max_tokens' || end === 'refusal' ? [] : calls.map((call) => makeCall(call, journal, tools.closed)) }
  } catch (error) {
    refused = error instanceof ProviderError && error.failure === 'too_long' && !error.partial
    throw error
  } finally {
    if (!refused) journal.send(usageFields(heard.usage, provider.model, 'agent'))
  }
}

/** What a response becomes part of. */
interface Around {
  readonly journal: Journal
  readonly tools: ToolList
}

/** What is known of a response so far. */
interface Heard {
  readonly calls: Call[]
  usage: Usage
  end: ResponseEnd
}

async function hear(provider: Provider, request: ModelRequest, journal: Journal, signal: AbortSignal, heard: Heard): Promise<void> {
  for await (const event of provider.respond(request, signal)) {
    signal.throwIfAborted()
    if (event.kind === 'call') heard.calls.push(event)
    else if (event.kind === 'usage') heard.usage = event.usage
    else if (event.kind === 'end') heard.end = event.reason
    else if (event.kind === 'retry') {
      heard.calls.length = 0
      heard.usage = NO_USAGE
      journal.send(retryFields(event))
    } else say(event, journal)
    const ready = journal.ready()
    if (ready !== undefined) await ready
  }
}

/** RETRY: what was said of this response is void. */
export function retryFields({ attempt, delayMs, reason }: Extract<ModelEvent, { kind: 'retry' }>) {
  return messageFields('RETRY', [], { attempt, delay_ms: delayMs, reason })
}

function say(event: Exclude<ModelEvent, { kind: 'call' | 'usage' | 'end' | 'retry' }>, journal: Journal): void {
  if (event.kind === 'text') journal.send(messageFields('TEXT', [event.text]))
  else if (event.kind === 'thinking') journal.send(messageFields('THINKING', [event.text]))
  else journal.send(messageFields('THINKING', [''], { signature: event.signature, opaque: event.opaque }))
}

/** Sends a call round; one whose input is no JSON object, or that nobody may take, is refused, and the model is told. */
function makeCall({ id: given, name, input, opaque }: Call, journal: Journal, noTools: boolean): Made {
  const fault = noTools
    ? 'there are no tools'
    : parseObject(input) === undefined
      ? `its input is no JSON object: ${JSON.stringify(input.slice(0, 80))}`
      : undefined
  if (fault !== undefined) {
    journal.send(messageFields('ERROR', [`a call of ${name.slice(0, 100)} was not made: ${fault}`], { code: 'bad_call', source: 'agent-loop' }))
    return { id: undefined, name, input }
  }
  const id = callId(given, journal.conversation)
  journal.call(name, id, input, opaque)
  return { id, name, input }
}
