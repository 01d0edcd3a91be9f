import { messageFields } from '@agentpipe/message'
import { unlessAborted } from './gate.js'
import { keptOf, startOfKept } from './kept-items.js'
import { type ModelRequest, ProviderError } from './provider.js'
import { requestMessages } from './request-messages.js'
import { retryFields } from './response.js'
import type { Surroundings } from './turn.js'
import { NO_USAGE, usageFields } from './usage.js'

/** What a compaction works with. */
export type Compacting = Pick<Surroundings, 'provider' | 'journal' | 'window' | 'tools' | 'system'>

export interface CompactionRequest {
  readonly trigger: 'auto' | 'manual'
  /** The turn that runs, whose last responses may have to go as well; undefined between turns. */
  readonly turn?: number
  /** What the summary is to care for besides, in the user's words. */
  readonly wishes?: string
}

/** Requests for one summary: each that was too long makes the window smaller, and an answer that broke off was seen by nobody. */
const MOST_REQUESTS = 5

/** The user's own words stay, up to here. */
const LONGEST_PROMPT = 20_000

const TASK = `The context window is nearly full. Write down, for yourself, all that is needed to go on with the work without what was said so far: it will stand in its place.
- What the user wants: every request that is not done, with its conditions, as literally as it matters, and what was decided.
- What was done and found out: files with their paths, what was changed in them and why, commands and what came of them, errors and what helped.
- Where the work stands, and what the next steps are.
Leave out what does not matter any more. Answer with that text only, and call no tools.`

/**
 * Puts a summary by the model in the place of the older part of the conversation: nothing is left out before the summary is there, and CONTEXT_UPDATE carries it, so that a
 * resumed session is the same. Gives whether anything was left out. Throws ProviderError where the model gives no summary; anything
 * once `signal` is aborted.
 */
export async function compact({ trigger, turn, wishes }: CompactionRequest, around: Compacting, signal: AbortSignal): Promise<boolean> {
  const { journal, window } = around
  const { items } = journal.conversation
  const kept = keptOf(items, window.kept, turn !== undefined)
  const start = startOfKept(items, kept)
  const dropped = items.slice(0, start)
  if (trigger === 'manual' ? dropped.length === 0 : !window.isMuch(dropped)) return false
  const before = window.tokens(items)
  const task = wishes === undefined || wishes === '' ? TASK : `${TASK}\nAbove all: ${wishes}`
  const said = await summarise(task, turn ?? 0, around, signal)
  const rest = items.slice(start)
  const prompt = kept.turns > 0 || turn === undefined ? undefined : items.findLast((item) => item.kind === 'user')?.text
  // What came while the summary was made, a sub-agent's result, and would go with the rest.
  const late = kept.turns + kept.responses > 0 ? [] : rest.flatMap((item) => (item.kind === 'notice' ? [item.text] : []))
  const parts = [said, ...(prompt === undefined ? [] : [`What the user asked for last:\n${prompt.slice(0, LONGEST_PROMPT)}`]), ...late]
  const summary = parts.join('\n\n')
  const after = window.tokens([{ kind: 'summary', text: summary }, ...rest.filter(({ kind }) => kind !== 'response')])
  const attributes = { summary, kept: kept.turns, kept_responses: kept.responses || undefined, tokens_before: before, tokens_after: after }
  journal.send(messageFields('CONTEXT_UPDATE', ['compact', trigger], attributes))
  return true
}

/** What the model says to `task`, asked behind the whole conversation: its server has that in its cache. */
async function summarise(task: string, turn: number, around: Compacting, signal: AbortSignal): Promise<string> {
  const { provider, journal, window, tools, system } = around
  const items = [...journal.conversation.items, { kind: 'notice', text: task } as const]
  for (let attempt = 1; ; attempt++) {
    const messages = () => requestMessages(window.fitted(items), provider.model, () => {})
    try {
      const text = (await hear({ messages, tools: tools.all, system, turn, request: 0 }, around, signal)).trim()
      if (text !== '') return text
      throw new ProviderError('rejected', 'the model was asked for a summary of the conversation, and said nothing')
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError) || attempt === MOST_REQUESTS) throw error
      if (error.failure === 'too_long' ? !window.tighten(items) : !error.partial) throw error
    }
  }
}

/** The text of one answer; USAGE closes it, however it ends. */
async function hear(request: ModelRequest, { provider, journal }: Compacting, signal: AbortSignal): Promise<string> {
  let text = ''
  let usage = NO_USAGE
  const listen = async () => {
    for await (const event of provider.respond(request, signal)) {
      signal.throwIfAborted()
      if (event.kind === 'text') text += event.text
      else if (event.kind === 'usage') usage = event.usage
      else if (event.kind === 'retry') {
        text = ''
        journal.send(retryFields(event))
      }
    }
  }
  try {
    // A server that hangs holds nobody up.
    await unlessAborted(listen(), signal)
    signal.throwIfAborted()
    return text
  } finally {
    journal.send(usageFields(usage, provider.model, 'compact'))
  }
}
