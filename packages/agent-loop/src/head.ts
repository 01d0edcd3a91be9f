import { randomBytes } from 'node:crypto'
import type { Frame } from '@agentpipe/frame'
import { checkMessage, type Message, type MessageOf, messageFields, parseMessage } from '@agentpipe/message'
import { type Context, EXIT, type FrameStage, VERSION } from '@agentpipe/stage'
import { ACTED_ON } from './acted-on.js'
import { Controls } from './controls.js'
import { Conversation } from './conversation.js'
import type { CostLimit } from './cost-limit.js'
import { currentDirectory } from './current-directory.js'
import { Gate, unlessAborted } from './gate.js'
import { recordedMessage } from './history.js'
import { Journal } from './journal.js'
import type { Settings } from './options.js'
import type { OutputSchema } from './output-schema.js'
import type { Provider } from './provider.js'
import { Quiet } from './quiet.js'
import { Results } from './results.js'
import { Ring } from './ring.js'
import { SubAgents } from './sub-agents.js'
import { ToolList } from './tool-list.js'
import type { Surroundings } from './turn.js'
import { Turns } from './turns.js'
import { windowFor } from './window-for.js'

/** After this long a user is told that HELLO has not come round. */
const HELLO_PATIENCE_MS = 5000
/** How long the results of cancelled calls are waited for: after an interrupt, and when we are to leave ourselves. */
const CANCEL_MS = 2000
const LEAVING_CANCEL_MS = 500

export interface HeadSettings {
  readonly settings: Settings
  readonly session: string
  readonly system: string
  readonly provider: Provider
  /** The provider with another model. Throws StageError where that can't be. */
  readonly choose: (model: string) => Promise<Provider>
  readonly outputSchema: OutputSchema | undefined
  readonly costLimit: CostLimit | undefined
}

/** The head of the ring: it takes what comes round, and only it begins something. */
export class Head implements FrameStage {
  readonly readsOn = 'always'
  readonly cutIsEnd: boolean
  readonly #context: Context
  readonly #given: HeadSettings
  readonly #ring: Ring
  readonly #journal: Journal
  readonly #turns: Turns
  readonly #tools = new ToolList()
  readonly #results = new Results()
  readonly #subAgents = new SubAgents()
  /** Opened when it is known whether tools can be called: HELLO has come round, or never will. */
  readonly #hello = new Gate<'round' | 'alone'>()
  readonly #inputEnded = new Gate<true>()
  readonly #finished: Promise<number>
  readonly done: Promise<number>
  readonly #around: Surroundings
  readonly #controls: Controls
  readonly #said = new Set<string>()
  /** How many STOPs have come round. */
  #stops = 0
  readonly #quiet = new Quiet()
  #cancelMs = CANCEL_MS

  constructor(context: Context, given: HeadSettings) {
    this.#context = context
    this.#given = given
    this.cutIsEnd = this.#given.settings.ring
    this.#ring = new Ring(context.output)
    this.#journal = new Journal(context.output, new Conversation(), (event) => event.type === 'USAGE' && given.costLimit?.take(event))
    if (given.settings['no-tools']) {
      this.#tools.close()
      this.#hello.open('alone')
    }
    this.#turns = new Turns({
      journal: this.#journal,
      once: given.settings.once,
      surroundings: () => this.#around,
      control: (control, signal) => this.#controls.take(control, signal),
    })
    this.#around = this.#surroundings()
    this.#controls = new Controls(this.#around, given)
    const { session, provider } = given
    const attributes = { agent: `agentpipe/${VERSION}`, cwd: currentDirectory(), model: provider.model || undefined, answer: given.outputSchema && 'json' }
    context.output.send(messageFields('HELLO', ['1', session], attributes))
    this.#finished = this.#run()
    // HELLO goes first: it takes its time to come round.
    setImmediate(() => void warmUp(provider))
    this.done = this.#leftAlone()
  }

  frame(frame: Frame): void {
    this.#quiet.frame()
    if (!ACTED_ON.has(frame.type)) {
      checkMessage(frame)
      return
    }
    const message = parseMessage(frame)
    if (message === undefined) return
    if (message.type === 'TOOL_RESULT') this.#result(message, frame)
    else if (message.type === 'HISTORY') this.#history(frame)
    else this.#message(message, frame)
  }

  async end(): Promise<number> {
    const cut = this.#given.settings.ring && this.#hello.value === undefined
    if (this.#hello.value === undefined) this.#tools.close()
    this.#hello.open('alone')
    this.#inputEnded.open(true)
    if (cut) await this.cancel()
    this.#turns.inputs.end()
    const status = await this.#finished
    return cut || (this.#given.settings.ring && this.#turns.begun > this.#stops) ? EXIT.PIPE : status
  }

  interrupt(): void {
    this.#turns.interrupt()
  }

  cancel(): Promise<void> {
    this.#cancelMs = LEAVING_CANCEL_MS
    return this.#turns.leave()
  }

  #message(message: Message, frame: Frame): void {
    switch (message.type) {
      case 'HELLO':
        if (message.session_id === this.#given.session) this.#hello.open('round')
        break
      case 'TOOL_DEF':
        this.#tools.add(message)
        break
      case 'USER_INPUT':
      case 'CONTROL':
        this.#turns.inputs.add(message)
        break
      case 'END':
        this.#turns.inputs.end()
        break
      case 'STOP':
        this.#stops++
        break
      case 'SUB_AGENT_RESULT':
        this.#subAgents.ended(message)
        this.#journal.take(frame)
        break
      case 'USAGE':
        // Our own has been counted.
        if (message.attributes.kind === 'sub_agent') this.#given.costLimit?.take(message)
        break
      case 'PERMISSION_REQUEST':
        this.#ring.send(messageFields('PERMISSION', [message.id, 'deny'], { reason: 'nobody was there to be asked' }))
        break
      case 'INTERRUPT':
        if (this.#ring.forward(frame) && message.attributes.call === undefined) this.#turns.endTurn()
        break
      case 'PERMISSION':
      case 'PROMPT':
        this.#ring.forward(frame)
        break
    }
  }

  #result(result: MessageOf<'TOOL_RESULT'>, frame: Frame): void {
    // Our own answers come round as well, and belated ones of calls that were given up: the conversation has theirs already.
    if (!this.#results.take(result)) return
    this.#subAgents.started(result)
    this.#journal.take(frame)
  }

  #history(frame: Frame): void {
    const recorded = recordedMessage(frame)
    if (recorded === undefined) return
    const { conversation } = this.#journal
    conversation.take(recorded)
    if (recorded.type === 'CONTEXT_UPDATE') conversation.isPartial = true
  }

  async #run(): Promise<number> {
    const status = await this.#turns.run()
    await this.#context.output.close()
    return status
  }

  /**
   * When all that we said has come round and we are done, the end of our input follows, unless a program around us holds our output open until we leave:
   * `timeout`, `time`, `sh -c '...; true'`.
   */
  async #leftAlone(): Promise<number> {
    const status = await this.#finished
    await this.#quiet.after(() => !this.#inputEnded.value && this.#stops >= this.#turns.begun)
    return status
  }

  #surroundings(): Surroundings {
    const { provider, system, settings, outputSchema, costLimit } = this.#given
    return {
      provider,
      window: windowFor(provider.model, settings, system, this.#tools),
      system,
      outputSchema,
      costLimit,
      maxTurns: settings['max-turns'],
      onDivergence: settings['on-divergence'],
      journal: this.#journal,
      tools: this.#tools,
      results: this.#results,
      subAgents: this.#subAgents,
      last: () => this.#turns.last,
      diagnose: this.#context.diagnose,
      mended: (what: string) => this.#mended(what),
      toolsKnown: (signal: AbortSignal) => this.#toolsKnown(signal),
      cut: this.#inputEnded.opened,
      cancelCalls: () => this.#cancelCalls(),
    }
  }

  /** Said once, however many requests it concerns. */
  #mended(what: string): void {
    if (this.#said.has(what)) return
    this.#said.add(what)
    this.#context.diagnose(`the conversation was mended for the model: ${what}`)
  }

  async #toolsKnown(signal: AbortSignal): Promise<void> {
    const notice = setTimeout(() => {
      this.#context.diagnose(
        'HELLO has not come round in 5 seconds: is the ring closed (tee -i back), and does every stage flush what it writes (awk: fflush())? Waiting for it; --no-tools does not wait',
      )
    }, HELLO_PATIENCE_MS)
    await unlessAborted(this.#hello.opened, signal)
    clearTimeout(notice)
  }

  #cancelCalls(): Promise<unknown> {
    if (this.#inputEnded.value) return Promise.resolve()
    this.#ring.send(messageFields('INTERRUPT', [randomBytes(8).toString('hex')]))
    const limit = AbortSignal.timeout(this.#cancelMs)
    return unlessAborted(Promise.race([this.#results.all(), this.#inputEnded.opened]), limit)
  }
}

async function warmUp(provider: Provider): Promise<void> {
  if (provider.warmUp === undefined) return
  await provider.warmUp().catch(() => {})
  // Node reads its fetch, with all that belongs to it, when one of the names is first used.
  void globalThis.Headers
}
