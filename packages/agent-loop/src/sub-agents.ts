import type { MessageOf } from '@agentpipe/message'

/** The sub-agents that run: a call of theirs is answered at once, with a session_id, and what comes of it later, as SUB_AGENT_RESULT. */
export class SubAgents {
  /** Session id to the call that started it. */
  readonly #running = new Map<string, string>()
  /** Those whose result was there before the answer to their call. */
  readonly #early = new Set<string>()
  #untold = false
  #done: (() => void) | undefined

  /** Takes the answer to a call: with a session_id it is that of a sub-agent which runs. */
  started({ id, attributes: { session_id: session, status = 'ok' } }: MessageOf<'TOOL_RESULT'>): void {
    if (session !== undefined && status === 'ok' && !this.#early.delete(session)) this.#running.set(session, id)
  }

  /** Takes the result of a sub-agent: whose it is, its call says, else its session. */
  ended({ session_id: session, attributes: { tool_use_id: call } }: MessageOf<'SUB_AGENT_RESULT'>): void {
    this.#untold = true
    const byCall = call === undefined ? undefined : [...this.#running].find(([, id]) => id === call)?.[0]
    if (!this.#running.delete(byCall ?? session)) this.#early.add(session)
    if (this.#running.size === 0) this.#done?.()
  }

  /** Whether some run, or have ended and the model was not told. */
  get open(): boolean {
    return this.#untold || this.#running.size > 0
  }

  get running(): number {
    return this.#running.size
  }

  /** The model is told of all that came so far. */
  told(): void {
    this.#untold = false
  }

  /** Those that run are waited for no longer. What comes of them all the same is still told. */
  giveUp(): void {
    this.#running.clear()
  }

  /** Resolves when none runs. */
  all(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve
      if (this.#running.size === 0) resolve()
    })
  }
}
