import { messageFields } from '@agentpipe/message'
import type { Diagnose } from '@agentpipe/stage'
import { AnswerCheck } from './answer-check.js'
import { compact } from './compaction.js'
import type { ContextWindow } from './context-window.js'
import type { Conversation } from './conversation.js'
import type { CostLimit } from './cost-limit.js'
import { unlessAborted } from './gate.js'
import type { UserInput } from './inputs.js'
import type { Journal } from './journal.js'
import type { OutputSchema } from './output-schema.js'
import { type ModelRequest, type Provider, ProviderError } from './provider.js'
import { type Outcome, Repeats } from './repeats.js'
import { requestMessages } from './request-messages.js'
import { type Made, type Response, takeResponse } from './response.js'
import type { Results } from './results.js'
import type { SubAgents } from './sub-agents.js'
import type { ToolList } from './tool-list.js'
import { type TurnEnd, TurnError } from './turn-end.js'

/** Answers that break off one after the other before the turn is given up. */
const MOST_CUTS = 3
/** Times that a request is made smaller that its server finds too long. */
const MOST_TIGHTENINGS = 5

/** What a turn works with. */
export interface Surroundings {
  /** CONTROL model changes them between turns. */
  provider: Provider
  window: ContextWindow
  readonly system: string
  readonly outputSchema: OutputSchema | undefined
  readonly costLimit: CostLimit | undefined
  readonly maxTurns: number | undefined
  /** When tools answer otherwise than in a capture. */
  readonly onDivergence: 'ignore' | 'warn' | 'stop'
  readonly journal: Journal
  readonly tools: ToolList
  readonly results: Results
  readonly subAgents: SubAgents
  /** Whether nobody will ask the model again after this turn. */
  readonly last: () => boolean
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
  const { provider, journal, tools, subAgents, system } = around
  const repeats = new Repeats()
  const answer = new AnswerCheck(around.outputSchema)
  const { image, image_type } = input.attributes
  journal.send(messageFields('USER_MESSAGE', [input.text], { image, image_type }))
  await around.toolsKnown(signal)
  let cuts = 0
  for (let request = 0; !signal.aborted; request++) {
    const limit = limitReached(request, around)
    if (limit !== undefined) return limit
    subAgents.told()
    await makeRoom(turn, around, signal)
    const messages = () => requestMessages(around.window.fitted(journal.conversation.items), provider.model, around.mended)
    const asked = { messages, tools: tools.all, system, turn, request }
    const response = await ask(asked, around, signal).catch((error: unknown) => {
      if (signal.aborted || !isCut(error) || ++cuts > MOST_CUTS) throw error
      journal.send(messageFields('ERROR', [`${error.message}; the model is asked to go on`], { code: 'cut', source: 'agent-loop' }))
    })
    if (response === undefined) continue
    cuts = 0
    const { end, calls } = response
    if (end === 'max_tokens' || end === 'refusal') return { reason: end }
    if (calls.length > 0) {
      await answered(calls, around, signal)
      if (signal.aborted) break
      compare(calls, turn, request, around)
      checkRepeats(calls, repeats, journal)
    } else if (end === 'end_turn' && !(await goesOn(around, signal)) && answer.passes(journal)) return { reason: 'end_turn' }
  }
  return { reason: 'interrupted' }
}

/** Summarises what is old where the window is nearly full. A model that cannot do that may still go on. */
async function makeRoom(turn: number, around: Surroundings, signal: AbortSignal): Promise<void> {
  const { window, provider, journal } = around
  if (provider.plays || !window.isFull(journal.conversation.items)) return
  await compact({ trigger: 'auto', turn }, around, signal).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof ProviderError) || (error.failure !== 'rejected' && error.failure !== 'too_long')) throw error
    journal.send(messageFields('ERROR', [`the conversation was not summarised: ${error.message}`], { code: 'compact', source: 'agent-loop' }))
  })
}

/** One response; a request that the server finds too long is made again, smaller. */
async function ask(asked: ModelRequest, around: Surroundings, signal: AbortSignal): Promise<Response> {
  const { provider, journal, window } = around
  for (let tightened = 0; ; tightened++) {
    try {
      return await takeResponse(provider, asked, around, signal)
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError) || error.failure !== 'too_long' || error.partial || tightened === MOST_TIGHTENINGS) throw error
      if (!window.tighten(journal.conversation.items)) throw error
      await makeRoom(asked.turn, around, signal)
    }
  }
}

/** Whether an answer broke off in the middle of what the model said. */
function isCut(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.failure === 'cut' && error.partial
}

/** Waits until each call has its answer. Calls of tools that nobody defined are ours to answer; for the others a runner is waited for. */
async function answered(calls: readonly Made[], around: Surroundings, signal: AbortSignal): Promise<void> {
  const { tools, results, journal } = around
  for (const { id, name } of calls) {
    if (id === undefined) continue
    if (tools.has(name)) results.expect(id)
    else journal.send(messageFields('TOOL_RESULT', [id, name, tools.missing(name)], { status: 'error' }))
  }
  await unlessAborted(Promise.race([results.all(), around.cut]), signal)
  if (results.missing.length > 0 && !signal.aborted) throw new ProviderError('unreachable', 'the tools do not answer: a stage behind agent-loop has ended')
}

/** Tells where tools answered otherwise than the model has it in its capture. */
function compare(calls: readonly Made[], turn: number, request: number, { provider, journal, onDivergence, diagnose }: Surroundings): void {
  if (provider.divergences === undefined || onDivergence === 'ignore') return
  const answers = journal.conversation.resultsOf(calls.flatMap(({ id }) => id ?? [])).filter((result) => result !== undefined)
  for (const divergence of provider.divergences(turn, request, answers)) {
    const said = `tools answer otherwise than in the capture: turn ${turn + 1}, response ${request + 1}, ${divergence}`
    if (onDivergence === 'stop') throw new ProviderError('diverged', said)
    diagnose(said)
  }
}

function checkRepeats(calls: readonly Made[], repeats: Repeats, journal: Journal): void {
  const said = repeats.take(outcomesOf(calls, journal.conversation))
  if (said !== undefined) journal.send(messageFields('ERROR', [said], { code: 'repeated_calls', source: 'agent-loop' }))
}

function outcomesOf(calls: readonly Made[], conversation: Conversation): Outcome[] {
  const results = new Map(conversation.resultsOf(calls.flatMap(({ id }) => id ?? [])).map((result) => [result?.id, result]))
  return calls.map(({ id, name, input }) => {
    const { output, status } = results.get(id) ?? { output: '', status: 'error' }
    return { name, input, output, failed: status !== 'ok' }
  })
}

/** Whether the model, which has said all, is to be asked once more: sub-agents that it started have ended, and nobody will ask it later. */
async function goesOn({ subAgents, last, cut }: Surroundings, signal: AbortSignal): Promise<boolean> {
  if (!last() || !subAgents.open) return false
  await unlessAborted(Promise.race([subAgents.all(), cut]), signal)
  if (subAgents.running > 0 && !signal.aborted) throw new ProviderError('unreachable', 'the sub-agents do not answer: a stage behind agent-loop has ended')
  return true
}

function limitReached(requests: number, { maxTurns, costLimit, journal }: Surroundings): TurnEnd | undefined {
  const said = costLimit?.reached
  if (said !== undefined) return stopAt('max_cost', said, journal)
  if (maxTurns === undefined || requests < maxTurns) return undefined
  return stopAt('max_turns', `the turn took ${maxTurns} model requests, which is the limit: see --max-turns`, journal)
}

function stopAt(reason: 'max_turns' | 'max_cost', said: string, journal: Journal): TurnEnd {
  journal.send(messageFields('ERROR', [said], { code: reason, source: 'agent-loop' }))
  return { reason }
}

function failed(error: unknown, { journal }: Surroundings, signal: AbortSignal): TurnEnd {
  if (signal.aborted) return { reason: 'interrupted' }
  // What was said does not fit into a frame: encodeFrame tells.
  const known = error instanceof RangeError ? new ProviderError('unreachable', error.message) : error
  if (!(known instanceof ProviderError || known instanceof TurnError)) throw known
  journal.send(messageFields('ERROR', [known.message], { code: known.failure, source: 'agent-loop' }))
  return { reason: 'error', failure: known.failure }
}

/** No turn ends with a call that has no result: what runs is cancelled, and what is not answered then is answered here. */
async function settleCalls(end: TurnEnd, { journal, results, subAgents, cancelCalls }: Surroundings): Promise<void> {
  const running = end.reason === 'interrupted' && subAgents.running > 0
  if (running) subAgents.giveUp()
  if (results.missing.length > 0 || running) await cancelCalls()
  for (const id of results.missing) results.take({ id })
  const why = end.reason === 'interrupted' ? 'The call was interrupted.' : 'The call was not finished.'
  for (const [id, name] of [...journal.conversation.openCalls]) journal.send(messageFields('TOOL_RESULT', [id, name, why], { status: 'cancelled' }))
}
