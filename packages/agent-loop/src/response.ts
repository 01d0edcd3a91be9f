import { messageFields, parseObject } from '@agentpipe/message'
import { callId } from './call-ids.js'
import { unlessAborted } from './gate.js'
import type { Journal } from './journal.js'
import type { ModelEvent, ModelRequest, Provider, ResponseEnd, Usage } from './provider.js'

type Call = Extract<ModelEvent, { kind: 'call' }>

/** How a response ended, and the calls that were made: their ids and tools. */
export interface Response {
  readonly end: ResponseEnd
  readonly calls: readonly { readonly id: string; readonly name: string }[]
}

const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }

/**
 * One response of the model, as frames: what it says as it says it, its calls once it is whole, USAGE at its end however it ends.
 * Throws what the provider throws, ProviderError or anything else once `signal` is aborted.
 */
export async function takeResponse(provider: Provider, request: ModelRequest, journal: Journal, signal: AbortSignal): Promise<Response> {
  const calls: Call[] = []
  let usage = NO_USAGE
  let end: ResponseEnd = 'end_turn'
  try {
    for await (const event of provider.respond(request, signal)) {
      if (event.kind === 'call') calls.push(event)
      else if (event.kind === 'usage') usage = event.usage
      else if (event.kind === 'end') end = event.reason
      else if (event.kind === 'retry') {
        calls.length = 0
        usage = NO_USAGE
        journal.send(messageFields('RETRY', [], { attempt: event.attempt, delay_ms: event.delayMs, reason: event.reason }))
      } else say(event, journal)
      const ready = journal.ready()
      if (ready !== undefined) await unlessAborted(ready, signal)
      signal.throwIfAborted()
    }
    // A response that was cut by a limit may have cut its last call.
    const made = end === 'max_tokens' || end === 'refusal' ? [] : calls.flatMap((call) => makeCall(call, journal))
    return { end, calls: made }
  } finally {
    const { input, output, cacheRead, cacheCreation } = usage
    const attributes = { model: provider.model || undefined, kind: 'agent' }
    journal.send(messageFields('USAGE', [input, output, cacheRead, cacheCreation].map(String) as [string, string, string, string], attributes))
  }
}

function say(event: Exclude<ModelEvent, { kind: 'call' | 'usage' | 'end' | 'retry' }>, journal: Journal): void {
  if (event.kind === 'text') journal.send(messageFields('TEXT', [event.text]))
  else if (event.kind === 'thinking') journal.send(messageFields('THINKING', [event.text]))
  else journal.send(messageFields('THINKING', [''], { signature: event.signature, opaque: event.opaque }))
}

/** Sends a call round; one whose input is no JSON object is refused, and the model is told. */
function makeCall({ id: given, name, input, opaque }: Call, journal: Journal): { id: string; name: string }[] {
  if (parseObject(input) === undefined) {
    const start = JSON.stringify(input.slice(0, 80))
    journal.send(messageFields('ERROR', [`a call of ${name} was not made: its input is no JSON object: ${start}`], { code: 'bad_call', source: 'agent-loop' }))
    return []
  }
  const id = callId(given, journal.conversation)
  journal.call(name, id, input, opaque)
  return [{ id, name }]
}
