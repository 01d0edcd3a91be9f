import type { Frame } from '@agentpipe/frame'
import type { Diagnose } from './diagnostics.js'
import type { OptionTable, OptionValues } from './option-table.js'
import type { Output } from './output.js'
import type { Trace } from './trace.js'

/** What a command is started with. */
export interface Context<Table extends OptionTable = OptionTable> {
  /** The executable's name. */
  readonly name: string
  readonly options: OptionValues<Table>
  /** Options that the command line itself gave. */
  readonly given: ReadonlySet<string>
  readonly operands: readonly string[]
  readonly output: Output
  readonly diagnose: Diagnose
  readonly trace: Trace | undefined
}

/**
 * A stage of a pipeline: told of each frame, it passes it on (`output.pass`), sends others, or consumes it.
 * None of these may block. A FrameError thrown from `frame` ends the stage with 65, a StageError with its status.
 */
export interface FrameStage {
  /** One whole frame. It is a view of what was read: `frame.copy()` to keep it past `batch`. */
  frame(frame: Frame): void
  /** The frames that were read together have all been given; what was written so far goes out when this returns. */
  batch?(): void
  /** The input has ended, between frames: finish what is running. Gives the exit status, 0 if none. */
  end?(): number | undefined | Promise<number | undefined>
  /** SIGINT: end what is running, not the stage. Without it nothing happens. */
  interrupt?(): void
  /** The stage must leave: cancel what runs, at once. Its input may not have ended. */
  cancel?(): void | Promise<void>
  /** Read on though the reader of the output is gone, and for a head also while the output is backed up. */
  readonly readsOn?: 'when closed' | 'always'
  /** An input that ends inside a frame has ended, no more: in a ring whoever kills the last stage cuts what it was writing. */
  readonly cutIsEnd?: boolean
  /** Resolves when it leaves though its input has not ended, with its exit status. */
  readonly done?: Promise<number>
  /** A terminal as input, on which nobody types frames, counts as empty. */
  readonly noTerminal?: true
  /** Standard input is not read: `end` is called at once, and what it gives is waited for. */
  readonly noInput?: boolean
  /** Outputs beside the context's: while one is backed up no more is read, and the stage leaves when each has been taken. */
  readonly outputs?: readonly Output[]
  /** `text`: what it prints are no frames, so that none goes out either when its input is malformed. */
  readonly prints?: 'frames' | 'text'
  /** What it prints may stand on the same screen as its diagnostics: it is cancelled, and its outputs are flushed, before it says what is wrong. */
  readonly saysLast?: boolean
}

/**
 * What an executable, or one verb of it, does: `stage` for a stage of a pipeline; `act` for what works through its input, or has
 * none, and is done: its output blocks (`Output.flush` waits). `act` gives the exit status, 0 if none.
 */
export interface Command<Table extends OptionTable = OptionTable> {
  readonly purpose?: string
  readonly options: Table
  /** Operands as in a synopsis: `TYPE [FIELD...]`. Without it, an operand is an error. */
  readonly operands?: string
  /** Nothing behind the first operand is an option. */
  readonly operandsEndOptions?: true
  readonly examples?: readonly string[]
  readonly stage?: (context: Context<Table>) => FrameStage | Promise<FrameStage>
  readonly act?: (context: Context<Table>) => number | undefined | void | Promise<number | undefined | void>
}

/** A command with the types of its options checked, to stand in a list with others. */
export function command<const Table extends OptionTable>(spec: Command<Table>): Command {
  return spec as unknown as Command
}

export interface StageSpec {
  readonly name: string
  /** What it does, in one sentence that begins with a verb, without full stop. */
  readonly purpose: string
  /** What it does without a verb. */
  readonly main?: Command
  readonly verbs?: Readonly<Record<string, Command>>
  /** Two command lines that run as they stand. */
  readonly examples: readonly [string, string]
}
