import { messageFields } from '@agentpipe/message'
import type { Diagnose } from '@agentpipe/stage'
import { unlessAborted } from './gate.js'
import type { UserInput } from './inputs.js'
import type { Journal } from './journal.js'
import { type Provider, ProviderError } from './provider.js'
import { requestMessages } from './request-messages.js'
import { type Response, takeResponse } from './response.js'
import type { Results } from './results.js'
import type { ToolList } from './tool-list.js'
import type { TurnEnd } from './turn-end.js'

/** What a turn works with. */
export interface Surroundings {
  readonly provider: Provider
  readonly system: string
  readonly maxTurns: number | undefined
  readonly journal: Journal
  readonly tools: ToolList
  readonly results: Results
  readonly diagnose: Diagnose
  /** Told what had to be mended in the conversation for a request. */
  readonly mended: (what: string) => void
  /** Resolves when every tool is known, or `signal` is aborted. */
  readonly toolsKnown: (signal: AbortSignal) => Promise<unknown>
  /** Resolves when nothing comes round any more: a stage behind us has ended. */
  readonly cut: Promise<unknown>
  /** Tells the runners to cancel, and resolves when they have answered or had their time. */
  readonly cancelCalls: () => Promise<unknown>
}

/** One turn: from an input to STOP. Its end is sent as STOP, and given. Rejects only for a bug. */
export async function runTurn(input: UserInput, number: number, around: Surroundings, signal: AbortSignal): Promise<TurnEnd> {
  const { journal } = around
  const end = await converse(input, number, around, signal).catch((error: unknown) => failed(error, around, signal))
  if (end.reason !== 'end_turn') await settleCalls(end, around)
  journal.send(messageFields('STOP', [end.reason]))
  return end
}

async function converse(input: UserInput, turn: number, around: Surroundings, signal: AbortSignal): Promise<TurnEnd> {
  const { provider, journal, tools, results, system, maxTurns } = around
  const { image, image_type } = input.attributes
  journal.send(messageFields('USER_MESSAGE', [input.text], { image, image_type }))
  await around.toolsKnown(signal)
  for (let request = 0; !signal.aborted; request++) {
    if (maxTurns !== undefined && request >= maxTurns) return reportLimit(maxTurns, journal)
    const messages = () => requestMessages(journal.conversation.items, provider.model, around.mended)
    const asked = { messages, tools: tools.all, system, turn, request }
    const { end, calls } = await takeResponse(provider, asked, journal, signal)
    if (end === 'max_tokens' || end === 'refusal') return { reason: end }
    if (end === 'end_turn' && calls.length === 0) return { reason: 'end_turn' }
    answerUnknown(calls, around)
    await unlessAborted(Promise.race([results.all(), around.cut]), signal)
    if (results.missing.length > 0 && !signal.aborted) throw new ProviderError('unreachable', 'the tools do not answer: a stage behind agent-loop has ended')
  }
  return { reason: 'interrupted' }
}

/** Calls of tools that nobody defined are ours to answer; for the others a runner is waited for. */
function answerUnknown(calls: Response['calls'], { tools, results, journal }: Surroundings): void {
  for (const { id, name } of calls) {
    if (tools.has(name)) results.expect(id)
    else journal.send(messageFields('TOOL_RESULT', [id, name, tools.missing(name)], { status: 'error' }))
  }
}

function reportLimit(limit: number, journal: Journal): TurnEnd {
  journal.send(
    messageFields('ERROR', [`the turn took ${limit} model requests, which is the limit: see --max-turns`], { code: 'max_turns', source: 'agent-loop' }),
  )
  return { reason: 'max_turns' }
}

function failed(error: unknown, { journal }: Surroundings, signal: AbortSignal): TurnEnd {
  if (signal.aborted) return { reason: 'interrupted' }
  // What was said does not fit into a frame: encodeFrame tells.
  const known = error instanceof RangeError ? new ProviderError('unreachable', error.message) : error
  if (!(known instanceof ProviderError)) throw known
  journal.send(messageFields('ERROR', [known.message], { code: known.failure, source: 'agent-loop' }))
  return { reason: 'error', failure: known.failure }
}

/** No turn ends with a call that has no result: what runs is cancelled, and what is not answered then is answered here. */
async function settleCalls(end: TurnEnd, { journal, results, cancelCalls }: Surroundings): Promise<void> {
  if (results.missing.length > 0) await cancelCalls()
  for (const id of results.missing) results.take({ id })
  const why = end.reason === 'interrupted' ? 'The call was interrupted.' : 'The call was not finished.'
  for (const [id, name] of [...journal.conversation.openCalls]) journal.send(messageFields('TOOL_RESULT', [id, name, why], { status: 'cancelled' }))
}
