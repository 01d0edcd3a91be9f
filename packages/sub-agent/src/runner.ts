import { randomBytes } from 'node:crypto'
import type { Frame } from '@agentpipe/frame'
import { checkMessage, isSessionId, messageFields, parseMessage } from '@agentpipe/message'
import { type Context, EXIT, type FrameStage, type Output, Reaper, StageError } from '@agentpipe/stage'
import { DESCRIPTION, INPUT_SCHEMA, NAME, parseTask, type Task } from './definition.js'
import { depth } from './depth.js'
import { NestedAgent } from './nested-agent.js'
import type { OPTIONS } from './options.js'

/** Passes every frame on, and answers calls of SubAgent: at once with the session of the agent that it starts, and with SUB_AGENT_RESULT when that has ended. */
export class SubAgentRunner implements FrameStage {
  readonly #output: Output
  readonly #most: number
  readonly #options: readonly string[]
  readonly #reaper = new Reaper()
  readonly #running = new Map<NestedAgent, Promise<void>>()
  readonly #waiting: NestedAgent[] = []
  readonly #used = new Set<string>()
  /** The tool is ours: we may go deeper, and no runner before us has defined it. */
  #ours: boolean
  #session: string | undefined
  /** Whether there is a head, and whether a turn of it is going on: until STOP it may still want results. */
  #head: 'none' | 'in turn' | 'between turns' = 'none'

  constructor({ options, operands, output }: Context<typeof OPTIONS>) {
    this.#output = output
    this.#most = Math.max(1, options.max)
    this.#options = operands
    this.#ours = depth() < options.depth
  }

  frame(frame: Frame): void {
    const { type } = frame
    if (type === 'HELLO') this.#hello(frame)
    this.#output.pass(frame)
    if (type === 'TOOL_CALL') this.#take(frame)
    else if (type === 'TOOL_DEF') this.#otherTool(frame)
    else if (type === 'INTERRUPT') this.#interrupted(frame)
    else if (type === 'STOP' && this.#head !== 'none') this.#head = 'between turns'
    else if (type === 'USER_MESSAGE' && this.#head !== 'none') this.#head = 'in turn'
  }

  async end(): Promise<undefined> {
    // A plain filter finishes what it has begun; without a head nobody wants to know it.
    if (this.#head !== 'none') await this.cancel()
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    if (this.#head === 'in turn') throw new StageError(EXIT.UNAVAILABLE, 'the input ended before STOP: whoever runs the turn is gone')
  }

  interrupt(): void {
    this.#cancel(() => true)
  }

  async cancel(): Promise<void> {
    this.#cancel(() => true)
    await Promise.all(this.#running.values())
  }

  #hello(frame: Frame): void {
    checkMessage(frame)
    this.#head = 'in turn'
    this.#session = frame.text(2)
    if (this.#ours) this.#output.send(messageFields('TOOL_DEF', [NAME, DESCRIPTION, JSON.stringify(INPUT_SCHEMA)], { read_only: 'false' }))
  }

  /** Of a name the first definition wins: one that comes before HELLO is an earlier runner's. */
  #otherTool(frame: Frame): void {
    checkMessage(frame)
    if (this.#head === 'none' && frame.text(1) === NAME) this.#ours = false
  }

  #take(frame: Frame): void {
    checkMessage(frame)
    const [name, id, input] = [1, 2, 3].map((field) => frame.text(field)) as [string, string, string]
    if (name !== NAME || !this.#ours) return
    try {
      this.#start(id, parseTask(input))
    } catch (error) {
      this.#output.send(messageFields('TOOL_RESULT', [id, NAME, (error as Error).message], { status: 'error' }))
    }
  }

  #start(id: string, task: Task): void {
    const agent = new NestedAgent(this.#sessionFor(id), id, task, this.#options, this.#reaper)
    const waits = this.#running.size >= this.#most
    const said = `The agent ${agent.session} ${waits ? `waits until one of the ${this.#most} that run has ended` : 'has started'}. Its answer comes as a message.`
    this.#output.send(messageFields('TOOL_RESULT', [id, NAME, said], { status: 'ok', session_id: agent.session, summary: task.description }))
    if (waits) this.#waiting.push(agent)
    else this.#run(agent)
  }

  #run(agent: NestedAgent): void {
    this.#running.set(agent, this.#untilEnd(agent))
  }

  async #untilEnd(agent: NestedAgent): Promise<void> {
    const { status, text, usage } = await agent.run()
    const { call, session, task } = agent
    const [input, output, cacheRead, cacheCreation] = usage.map(String) as [string, string, string, string]
    if (usage.some((tokens) => tokens > 0)) this.#output.send(messageFields('USAGE', [input, output, cacheRead, cacheCreation], { kind: 'sub_agent' }))
    const attributes = { tool_use_id: call, description: task.description, input_tokens: input, output_tokens: output }
    this.#output.send(messageFields('SUB_AGENT_RESULT', [session, status, text], attributes))
    this.#running.delete(agent)
    const next = this.#waiting.shift()
    if (next !== undefined) this.#run(next)
  }

  /** The session of a sub-agent is named after the one that it belongs to, and its call. */
  #sessionFor(id: string): string {
    const named = `${this.#session ?? 'sub-agent'}.${id}`
    const session = isSessionId(named) && !this.#used.has(named) ? named : `sub-agent.${randomBytes(6).toString('hex')}`
    this.#used.add(session)
    return session
  }

  #interrupted(frame: Frame): void {
    const message = parseMessage(frame)
    const only = message?.type === 'INTERRUPT' ? message.attributes.call : undefined
    this.#cancel(({ call }) => only === undefined || call === only)
  }

  /** Ends those that `which` names; what waits is told as if it had run. */
  #cancel(which: (agent: NestedAgent) => boolean): void {
    for (const agent of [...this.#running.keys(), ...this.#waiting]) if (which(agent)) agent.cancel()
    for (const agent of this.#waiting.splice(0)) {
      if (which(agent)) this.#run(agent)
      else this.#waiting.push(agent)
    }
  }
}
