import type { Frame } from '@agentpipe/frame'
import { checkMessage, messageFields, parseMessage } from '@agentpipe/message'
import { type Context, EXIT, type FrameStage, type Output, StageError } from '@agentpipe/stage'
import { CallQueue } from './call-queue.js'
import { validatorOf } from './input-schema.js'
import { LiveOutput } from './live-output.js'
import type { OPTIONS } from './options.js'
import { failure, resultFields } from './result.js'
import { Session } from './session.js'
import type { Call, Outcome, Tool } from './tool.js'
import { ToolError } from './tool-error.js'
import { toolsOf } from './tools.js'

const WARM_UP_MS = 50

/** A call that was taken. */
interface TakenCall {
  readonly id: string
  readonly tool: Tool
  /** JSON text. */
  readonly input: string
  readonly readOnly: boolean
  readonly cancelling: AbortController
}

/** Passes every frame on, and answers the calls of its tools. */
export class ToolRunner implements FrameStage {
  readonly #output: Output
  readonly #session: Session
  readonly #tools: Map<string, Tool>
  readonly #calls: CallQueue<TakenCall>
  /** Whether there is a head, and whether a turn of it is going on: until STOP it may still want results. */
  #head: 'none' | 'in turn' | 'between turns' = 'none'

  constructor({ options, output }: Context<typeof OPTIONS>) {
    this.#output = output
    this.#session = new Session(options, output)
    this.#tools = toolsOf(this.#session, options.tools)
    this.#calls = new CallQueue(
      (call) => this.#answer(call),
      () => (output.backedUp ? output.drained() : undefined),
    )
  }

  frame(frame: Frame): void {
    const { type } = frame
    if (type === 'HELLO') this.#hello()
    this.#output.pass(frame)
    if (type === 'TOOL_CALL') this.#take(frame)
    else if (type === 'TOOL_DEF') this.#otherTool(frame)
    else if (type === 'PERMISSION') this.#permission(frame)
    else if (type === 'INTERRUPT') this.#interrupted(frame)
    else if (type === 'STOP' && this.#head !== 'none') this.#head = 'between turns'
    else if (type === 'USER_MESSAGE' && this.#head !== 'none') this.#head = 'in turn'
  }

  async end(): Promise<undefined> {
    this.#session.permissions.endOfAnswers()
    if (this.#head === 'in turn') {
      await this.#cancelAll()
      throw new StageError(EXIT.UNAVAILABLE, 'the input ended before STOP: whoever runs the turn is gone')
    }
    await this.#calls.idle()
    await this.#session.leave()
  }

  interrupt(): void {
    this.#cancel(() => true)
  }

  async cancel(): Promise<void> {
    this.#session.groups.killAll()
    await this.#cancelAll()
  }

  /** The tools that nobody before us has are ours from now on. */
  #hello(): void {
    this.#head = 'in turn'
    for (const { name, description, inputSchema, readOnly } of this.#tools.values()) {
      this.#output.send(messageFields('TOOL_DEF', [name, description, JSON.stringify(inputSchema)], { read_only: String(readOnly) }))
    }
    // Loaded while the model thinks: the first call need not wait for it, and HELLO has not.
    setTimeout(
      () => void Promise.all([import('execa'), ...[...this.#tools.values()].map(({ inputSchema }) => validatorOf(inputSchema))]).catch(() => {}),
      WARM_UP_MS,
    ).unref()
  }

  /** Before HELLO, an earlier runner's: its definition wins. Behind it, ours has been the first. */
  #otherTool(frame: Frame): void {
    checkMessage(frame)
    if (this.#head === 'none') this.#tools.delete(frame.text(1) as string)
  }

  #take(frame: Frame): void {
    checkMessage(frame)
    const tool = this.#tools.get(frame.text(1) as string)
    if (tool === undefined) return
    const [id, input] = [frame.text(2) as string, frame.text(3) as string]
    this.#calls.add({ id, tool, input, readOnly: tool.readOnly, cancelling: new AbortController() })
  }

  async #answer({ id, tool, input, cancelling: { signal } }: TakenCall): Promise<void> {
    const live = new LiveOutput(this.#output, id, this.#session.maxOutput)
    const started = performance.now()
    const outcome = await this.#outcomeOf(tool, input, { id, tool: tool.name, input, signal, live }).catch(failure)
    live.flush()
    this.#result(id, tool.name, outcome, performance.now() - started)
  }

  async #outcomeOf(tool: Tool, input: string, call: Call): Promise<Outcome> {
    const { permissions } = this.#session
    if (!tool.judgesItself) await permissions.obey(call, permissions.policy.tool(tool.name, tool.readOnly), input)
    const outcome = await tool.run(input, call)
    return { ...outcome, permission: permissions.decidedBy(call.id) }
  }

  #result(id: string, name: string, outcome: Outcome, durationMs: number): void {
    try {
      this.#output.send(resultFields(id, name, outcome, durationMs))
    } catch (error) {
      // Past the limits of a frame.
      this.#output.send(resultFields(id, name, failure(error), durationMs))
    }
  }

  #permission(frame: Frame): void {
    const message = parseMessage(frame)
    if (message?.type === 'PERMISSION') this.#session.permissions.answer(message.id, message.decision)
  }

  #interrupted(frame: Frame): void {
    const message = parseMessage(frame)
    const only = message?.type === 'INTERRUPT' ? message.attributes.call : undefined
    this.#cancel(({ id }) => only === undefined || id === only)
  }

  /** Ends the calls that `which` names. Each is answered, those too that have not begun. */
  #cancel(which: (call: TakenCall) => boolean): void {
    for (const { id, tool } of this.#calls.withdraw(which)) {
      this.#result(id, tool.name, failure(new ToolError('cancelled before it began', 'cancelled', 'cancelled')), 0)
    }
    for (const call of this.#calls.running) if (which(call)) call.cancelling.abort()
  }

  async #cancelAll(): Promise<void> {
    this.#cancel(() => true)
    await this.#calls.idle()
    await this.#session.leave()
  }
}
