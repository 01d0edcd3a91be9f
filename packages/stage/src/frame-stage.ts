import { FrameDecoder, FrameError } from '@agentpipe/frame'
import { messageFields } from '@agentpipe/message'
import type { Context, FrameStage } from './command.js'
import { descriptorKind } from './descriptors.js'
import { EXIT, reason, StageError, systemError } from './exit-status.js'
import { type Input, readInput } from './input.js'
import type { Output } from './output.js'
import { watchOwner } from './watch.js'

/** How long a stage that must leave still waits for the end of its input, or for a slow reader. */
const LEAVE_MS = 2000

/** Runs a stage from its first frame to the end of its input, and gives its exit status; never rejects. */
export function runFrameStage(context: Context, stage: FrameStage): Promise<number> {
  return new Promise((resolve) => new FrameLoop(context, stage, resolve).start())
}

class FrameLoop {
  readonly #context: Context
  readonly #stage: FrameStage
  readonly #resolve: (status: number) => void
  readonly #decoder = new FrameDecoder()
  #input: Input | undefined
  #leaving = false
  /** Nobody types frames: it was started by itself, to see what it does. */
  #atTerminal = false
  #cancelled: Promise<void> | undefined
  /** What we were told to leave by. */
  #signal: 'SIGTERM' | 'SIGHUP' | undefined

  constructor(context: Context, stage: FrameStage, resolve: (status: number) => void) {
    this.#context = context
    this.#stage = stage
    this.#resolve = resolve
  }

  start(): void {
    const { output } = this.#context
    output.onClosed = () => this.#outputClosed()
    output.onError = (error) => this.#leave(systemError(EXIT.IO, 'cannot write to standard output', error))
    process.on('SIGINT', () => this.#interrupt())
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#leaveBySignal(signal))
    watchOwner(() => this.#ownerGone())
    void this.#stage.done?.then((status) => this.#leave(new StageError(status, '')))
    if (this.#stage.noInput) return void this.#end()
    try {
      this.#atTerminal = descriptorKind(0) === 'terminal'
      if (this.#atTerminal && this.#stage.noTerminal) return void this.#end()
      if (this.#atTerminal) this.#context.diagnose('reads frames from standard input, which is a terminal: Ctrl-D ends it')
      this.#input = readInput(0, {
        chunk: (bytes) => this.#chunk(bytes),
        end: () => void this.#end(),
        error: (error) => this.#leave(systemError(EXIT.IO, 'cannot read standard input', error)),
      })
    } catch (error) {
      this.#leave(systemError(EXIT.IO, 'cannot read standard input', error))
    }
  }

  /** In a pipeline a stage goes on to the end of its input; at a terminal Ctrl-C is that end. */
  #interrupt(): void {
    this.#stage.interrupt?.()
    if (!this.#atTerminal) return
    this.#atTerminal = false
    this.#input?.pause()
    void this.#end()
  }

  #chunk(bytes: Buffer): void {
    const { output, trace } = this.#context
    try {
      this.#decoder.push(bytes, (frame) => {
        if (this.#leaving) return
        trace?.('<', frame)
        this.#stage.frame(frame)
      })
      this.#stage.batch?.()
      output.flush()
    } catch (error) {
      this.#failed(error)
    }
    if (this.#stage.readsOn !== 'always') this.#waitForReaders()
  }

  #cancel(): Promise<void> {
    this.#cancelled ??= (async () => this.#stage.cancel?.())()
    return this.#cancelled
  }

  #outputs(): readonly Output[] {
    return [this.#context.output, ...(this.#stage.outputs ?? [])]
  }

  #waitForReaders(): void {
    const slow = this.#outputs().filter((output) => output.backedUp && !output.closed)
    if (slow.length === 0) return
    this.#input?.pause()
    Promise.all(slow.map((output) => output.drained())).then(() => this.#input?.resume())
  }

  #finished(): Promise<unknown> {
    return Promise.all(this.#outputs().map((output) => output.finished()))
  }

  async #end(): Promise<void> {
    if (this.#leaving) return
    try {
      if (!this.#stage.cutIsEnd) this.#decoder.end()
      const status = await this.#stage.end?.()
      await this.#finished()
      // Meanwhile the output may have failed.
      if (this.#leaving) return
      this.#leaving = true
      this.#ended(status ?? EXIT.OK)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** What was read before the error still counts; then the stage says what is wrong, downstream and to the user. */
  #failed(error: unknown): void {
    if (error instanceof FrameError) {
      this.#finishBatch()
      const { name, output } = this.#context
      if (this.#stage.prints !== 'text') {
        output.send(messageFields('ERROR', [`${name}: ${error.message}`], { code: 'malformed', source: name, offset: error.offset }))
      }
      this.#leave(new StageError(EXIT.DATA, error.message))
    } else this.#leave(error)
  }

  #finishBatch(): void {
    try {
      this.#stage.batch?.()
    } catch (error) {
      this.#context.diagnose(reason(error))
    }
  }

  #outputClosed(): void {
    if (this.#stage.readsOn === 'when closed') this.#input?.resume()
    // For a head it means that what it was to do will not be done; for the others it is a normal end.
    else this.#leave(new StageError(this.#stage.readsOn === 'always' ? EXIT.PIPE : EXIT.OK, ''))
  }

  /** Ends the stage before its input does. */
  #leave(error: unknown): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#input?.stop()
    const said = this.#stage.saysLast ? undefined : this.#report(error)
    const finish = async () => {
      await this.#cancel()
      await this.#finished()
    }
    this.#withinLimit(finish()).then(() => this.#ended(said ?? this.#report(error)))
  }

  #report(error: unknown): number {
    if (error instanceof StageError) {
      if (error.message !== '') this.#context.diagnose(error.message)
      return error.status
    }
    reportBug(this.#context, error)
    return EXIT.SOFTWARE
  }

  /**
   * What runs is cancelled. The input is read on: in a pipeline that is told to leave as a whole, the results of what was cancelled and the end of
   * the turn are still to come. At the end of the input we leave, or when the time for it is over.
   */
  #leaveBySignal(signal: 'SIGTERM' | 'SIGHUP'): void {
    if (this.#signal !== undefined) return
    this.#signal = signal
    this.#cancel().catch(() => {})
    setTimeout(() => this.#leave(new StageError(EXIT.OK, '')), LEAVE_MS)
  }

  #ended(status: number): void {
    if (this.#signal === undefined) {
      this.#resolve(status)
      return
    }
    // Ended by the signal itself, so that who waits sees it. A terminal that is gone makes Node 20 abort in its own exit.
    process.removeAllListeners(this.#signal)
    process.kill(process.pid, this.#signal)
  }

  /** What runs ends at once; frames that are already on their way are still dealt with, for a short while. */
  #ownerGone(): void {
    this.#cancel().finally(() => {
      if (this.#stage.cancel) this.#resolve(EXIT.UNAVAILABLE)
    })
    setTimeout(() => this.#resolve(EXIT.UNAVAILABLE), LEAVE_MS).unref()
  }

  /** The timer also keeps the process going: what is waited for may have none of its own that does. */
  #withinLimit(work: Promise<unknown>): Promise<unknown> {
    return Promise.race([work.catch(() => {}), new Promise((resolve) => setTimeout(resolve, LEAVE_MS))])
  }
}

/** An exception that nobody foresaw: one line, and the stack where it was asked for. */
export function reportBug({ diagnose }: Pick<Context, 'diagnose'>, error: unknown): void {
  diagnose(`internal error: ${reason(error)}; run with AGENTPIPE_DEBUG=1 for the details and report them`)
  if (process.env.AGENTPIPE_DEBUG && error instanceof Error) for (const line of error.stack?.split('\n') ?? []) diagnose(line)
}
