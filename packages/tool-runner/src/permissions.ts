import { type MessageOf, messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'
import type { Decision, Policy } from './policy.js'
import { ToolError } from './tool-error.js'

/** A call that is to be judged. */
export interface Judged {
  readonly id: string
  readonly tool: string
  /** JSON text. */
  readonly input: string
  readonly signal: AbortSignal
}

interface Answer {
  readonly decision: 'allow' | 'always' | 'deny'
  /** Why it was denied. */
  readonly reason?: string | undefined
}

const NOBODY: Answer = { decision: 'deny', reason: 'nobody is there to be asked' }

/** Puts the policy into effect: what it denies is not done, and what it asks about waits for a PERMISSION. */
export class Permissions {
  readonly policy: Policy
  readonly #output: Output
  readonly #waiting = new Map<string, (answer: Answer) => void>()
  /** What was allowed for good: tools and what they were to do. */
  readonly #always = new Set<string>()
  /** Who decided on each call that has not been answered yet. */
  readonly #decided = new Map<string, string>()
  /** Nobody is left who could answer: the input has ended. */
  #alone = false

  constructor(policy: Policy, output: Output) {
    this.policy = policy
    this.#output = output
  }

  /** Resolves when the call may do it; `what` says what, and is what an answer for good is about. Throws ToolError (denied, cancelled). */
  async obey(call: Judged, decision: Decision, what: string): Promise<void> {
    if (decision.verdict === 'deny') throw denied(decision.rule)
    if (decision.verdict === 'ask') await this.#ask(call, decision.rule, `${call.tool} ${what}`)
    else if (!decision.rule.startsWith('--mode')) this.#decided.set(call.id, decision.rule)
  }

  /** An answer has come. */
  answer({ id, decision, attributes: { reason } }: MessageOf<'PERMISSION'>): void {
    this.#waiting.get(id)?.(decision === 'allow' || decision === 'always' ? { decision } : { decision: 'deny', reason })
  }

  /** No answer can come any more. */
  endOfAnswers(): void {
    this.#alone = true
    for (const resolve of this.#waiting.values()) resolve(NOBODY)
  }

  /** Who decided that the call may be made, if anybody did. To be called once. */
  decidedBy(id: string): string | undefined {
    const who = this.#decided.get(id)
    this.#decided.delete(id)
    return who
  }

  async #ask({ id, tool, input, signal }: Judged, rule: string, what: string): Promise<void> {
    if (this.#always.has(what)) {
      this.#decided.set(id, 'user, always')
      return
    }
    const { decision, reason = 'the user said no' } = await this.#answerTo(id, tool, rule, input, signal)
    if (signal.aborted) throw new ToolError('cancelled before it began', 'cancelled', 'cancelled')
    if (decision === 'deny') throw denied(`${rule}: ${reason}`)
    if (decision === 'always') this.#always.add(what)
    this.#decided.set(id, decision === 'always' ? 'user, always' : 'user')
  }

  async #answerTo(id: string, tool: string, rule: string, input: string, signal: AbortSignal): Promise<Answer> {
    if (this.#alone || signal.aborted) return NOBODY
    const answer = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve)
      signal.addEventListener('abort', () => resolve(NOBODY), { once: true })
    })
    this.#output.send(messageFields('PERMISSION_REQUEST', [id, tool, rule], { input }))
    return answer.finally(() => this.#waiting.delete(id))
  }
}

function denied(rule: string): ToolError {
  return new ToolError(`denied by ${rule}`, 'denied')
}
