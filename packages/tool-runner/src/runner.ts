import type { Frame } from '@agentpipe/frame'
import { checkMessage, parseMessage } from '@agentpipe/message'
import { type Context, EXIT, type FrameStage, type Output, StageError } from '@agentpipe/stage'
import { CallQueue } from './call-queue.js'
import { LiveOutput } from './live-output.js'
import type { OPTIONS } from './options.js'
import { OutsideTools } from './outside-tools.js'
import { failure, resultFields } from './result.js'
import { checkRuleNames } from './rule-names.js'
import { Session } from './session.js'
import type { Call, Outcome, Tool } from './tool.js'
import { ToolError } from './tool-error.js'
import { ToolSet } from './tool-set.js'
import { builtInTools, wantedTools } from './tools.js'

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
  readonly #tools: ToolSet
  readonly #outside: OutsideTools
  readonly #calls: CallQueue<TakenCall>
  /** Whether there is a head, and whether a turn of it is going on: until STOP it may still want results. */
  #head: 'none' | 'in turn' | 'between turns' = 'none'
  /** Calls that may be for a tool from outside that is not known yet. */
  readonly #unclear = new Set<Promise<void>>()

  /** A runner that knows its tools: those from outside too, as far as they tell of themselves within `--tools-wait`. */
  static async start(context: Context<typeof OPTIONS>): Promise<ToolRunner> {
    const { options, output, diagnose } = context
    const session = new Session(options, output, diagnose)
    const runner = new ToolRunner(context, session, await builtInTools(session))
    await session.sandbox.demand()
    await runner.#outside.within(options['tools-wait'] * 1000)
    return runner
  }

  private constructor({ options, output, diagnose }: Context<typeof OPTIONS>, session: Session, builtIn: readonly Tool[]) {
    this.#output = output
    this.#session = session
    const othersToCome = options['tools-dir'].length + options.mcp.length > 0
    checkRuleNames(
      options,
      builtIn.map(({ name }) => name),
      othersToCome,
    )
    this.#tools = new ToolSet(output, builtIn, wantedTools(options.tools, builtIn, othersToCome))
    this.#outside = new OutsideTools(session, diagnose, (tool) => this.#tools.add(tool))
    this.#calls = new CallQueue(
      (call) => this.#answer(call),
      () => (output.backedUp ? output.drained() : undefined),
    )
  }

  frame(frame: Frame): void {
    const { type } = frame
    if (type === 'HELLO') this.#hello(frame)
    this.#output.pass(frame)
    if (type === 'TOOL_CALL') this.#take(frame)
    else if (type === 'TOOL_DEF') this.#otherTool(frame)
    else if (type === 'PERMISSION') this.#permission(frame)
    else if (type === 'INTERRUPT') this.#interrupted(frame)
    else if (type === 'STOP' && this.#head !== 'none') this.#head = 'between turns'
    else if (type === 'USER_MESSAGE' && this.#head !== 'none') this.#turn()
  }

  async end(): Promise<undefined> {
    this.#session.permissions.endOfAnswers()
    if (this.#head === 'in turn') {
      await this.#cancelAll()
      throw new StageError(EXIT.UNAVAILABLE, 'the input ended before STOP: whoever runs the turn is gone')
    }
    await Promise.all(this.#unclear)
    await this.#calls.idle()
    await Promise.all([this.#session.leave(), this.#outside.leave()])
  }

  interrupt(): void {
    this.#cancel(() => true)
  }

  async cancel(): Promise<void> {
    this.#session.groups.killAll()
    await this.#cancelAll()
  }

  /** The tools that nobody before us has are ours from now on. */
  #hello(frame: Frame): void {
    const hello = parseMessage(frame)
    if (hello?.type === 'HELLO') this.#session.kept.session(hello.session_id, hello.attributes.cwd)
    this.#head = 'in turn'
    this.#tools.announce()
    // Loaded while the model thinks: the first call need not wait for it, and HELLO has not.
    setTimeout(() => void Promise.all([import('execa'), this.#tools.warmUp()]).catch(() => {}), WARM_UP_MS).unref()
  }

  #turn(): void {
    this.#head = 'in turn'
    this.#session.kept.turn()
  }

  #otherTool(frame: Frame): void {
    checkMessage(frame)
    this.#tools.definedByOther(frame.text(1) as string)
  }

  #take(frame: Frame): void {
    checkMessage(frame)
    const [name, id, input] = [1, 2, 3].map((field) => frame.text(field)) as [string, string, string]
    const tool = this.#tools.get(name)
    if (tool === undefined) {
      const problem = this.#outside.whyNot(name)
      if (problem !== undefined) this.#result(id, name, failure(new ToolError(problem)), 0)
      else if (this.#outside.pending) this.#takeLater(name, frame.copy())
      return
    }
    this.#calls.add({ id, tool, input, readOnly: tool.readOnly, cancelling: new AbortController() })
  }

  /** In a plain filter a call can come before its tool is known. */
  #takeLater(name: string, frame: Frame): void {
    const taken = this.#outside.known(name).then(() => this.#take(frame))
    this.#unclear.add(taken)
    void taken.then(() => this.#unclear.delete(taken))
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
    if (message?.type === 'PERMISSION') this.#session.permissions.answer(message)
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
    await Promise.all([this.#session.leave(), this.#outside.leave()])
  }
}
