import type { Frame } from '@agentpipe/frame'
import { attributesOf } from './attributes.js'
import { CallBlock } from './call-block.js'
import { type CallLabel, callLabel } from './call-label.js'
import { type DiffStat, diffStat } from './diff.js'
import { printDiff } from './diff-rows.js'
import { type Cap, printLeft, printLine } from './excerpt.js'
import { oneLine } from './invisible.js'
import type { Line } from './line-buffer.js'
import { LiveOutput, type OutputOptions } from './live-output.js'
import { type Outcome, outcomeOf } from './outcome.js'
import type { Screen } from './screen.js'
import { printTodos, type Todo, todosOf } from './todos.js'

/** Calls that are remembered; of more than that the oldest are forgotten: their results then have the tool's name only. */
const MOST_CALLS = 200
/** Lines of a call that waits for its turn to be shown. */
const MOST_WAITING = 200
/** A diff, or a list of things to do, may have this many times the lines that other output may. */
const DIFF_FACTOR = 5

interface Call {
  readonly id: string
  readonly label: CallLabel
  /** What it is to do, if that is a list. */
  readonly todos?: readonly Todo[] | undefined
  output: LiveOutput | undefined
  /** Lines that wait until another call has ended. */
  waiting: Line[]
}

/**
 * The calls that are running. One of them has the foreground: its output is shown as it comes. What others print waits until the
 * foreground is free or their result comes, and is then shown in one piece: calls side by side stay apart.
 */
export class Calls {
  readonly #screen: Screen
  readonly #options: OutputOptions
  readonly #calls = new Map<string, Call>()
  #foreground: Call | undefined

  constructor(screen: Screen, options: OutputOptions) {
    this.#screen = screen
    this.#options = options
  }

  /** TOOL_CALL */
  call(frame: Frame): void {
    const id = frame.text(2) as string
    const call = this.#remember(id, callLabel(frame), todosOf(frame))
    new CallBlock(this.#screen, id, call.label, 'call')
  }

  /** TOOL_OUTPUT */
  output(frame: Frame): void {
    const id = frame.text(1) as string
    const call = this.#calls.get(id) ?? this.#remember(id, { name: oneLine(id, 80), what: '' })
    this.#foreground ??= call
    call.output ??= new LiveOutput(this.#options, (line) => this.#line(call, line))
    if (call === this.#foreground) this.#showWaiting(call)
    call.output.push(frame.field(2) as Buffer)
  }

  /** TOOL_RESULT */
  result(frame: Frame): void {
    const id = frame.text(1) as string
    const call = this.#calls.get(id) ?? { id, label: { name: oneLine(frame.field(2), 80), what: '' }, output: undefined, waiting: [] }
    this.#calls.delete(id)
    const attributes = attributesOf(frame)
    const diff = attributes.get('diff')?.toString()
    const stat = diff === undefined ? undefined : diffStat(diff)
    const outcome = withoutLabel(outcomeOf(attributes, stat), call.label)
    if (call.output) this.#endLive(call, call.output, outcome)
    else this.#headed(call, outcome)
    if (diff !== undefined && stat !== undefined) this.#diff(call, diff, stat)
    if (call.todos && !outcome.failed) printTodos(this.#screen, this.#block(call, 'more'), call.todos, this.#diffCap)
    else if (call.output === undefined && (diff === undefined || outcome.failed)) {
      const output = frame.field(3) as Buffer
      if (!isSaid(output, attributes.get('summary'))) this.#whole(call, output)
    }
    if (this.#foreground === call) this.#foreground = undefined
  }

  /** The turn is over: calls that have no result get none. */
  end(): void {
    for (const call of this.#calls.values()) if (call.output) this.#endOutput(call, call.output)
    this.#calls.clear()
    this.#foreground = undefined
  }

  #remember(id: string, label: CallLabel, todos?: readonly Todo[]): Call {
    const call = { id, label, todos, output: undefined, waiting: [] }
    this.#calls.delete(id)
    this.#calls.set(id, call)
    const [oldest] = this.#calls.values()
    if (this.#calls.size > MOST_CALLS && oldest) this.#calls.delete(oldest.id)
    return call
  }

  #line(call: Call, line: Line): void {
    if (call === this.#foreground) {
      this.#print(call, line)
      return
    }
    call.waiting.push(line)
    if (call.waiting.length >= MOST_WAITING) this.#showWaiting(call)
  }

  #showWaiting(call: Call): void {
    const { waiting } = call
    call.waiting = []
    for (const line of waiting) this.#print(call, line)
  }

  #print(call: Call, line: Line): void {
    printLine(this.#block(call, 'more').body(), line, this.#screen.theme.output, this.#screen.theme)
  }

  /** The block of a call if it is the open one, else a new one that names it. */
  #block(call: Call, marker: 'more' | 'ok' | 'failed'): CallBlock {
    const { current } = this.#screen
    return current instanceof CallBlock && current.id === call.id ? current : new CallBlock(this.#screen, call.id, call.label, marker)
  }

  #isOpen({ id }: Call): boolean {
    const { current } = this.#screen
    return current instanceof CallBlock && current.id === id
  }

  #endOutput(call: Call, output: LiveOutput): void {
    this.#foreground = call
    this.#showWaiting(call)
    output.end((count) => printLeft(this.#block(call, 'more').body(), count, this.#screen.theme))
  }

  /** The result of a call whose output was shown as it came: how it ended is new, and what waited. */
  #endLive(call: Call, output: LiveOutput, outcome: Outcome): void {
    const shown = this.#isOpen(call)
    if (!shown) this.#headed(call, outcome)
    this.#endOutput(call, output)
    if (shown) this.#headed(call, outcome)
  }

  /** How a call ended, at the end of its line. */
  #headed(call: Call, { failed, parts }: Outcome): void {
    const block = this.#block(call, failed ? 'failed' : 'ok')
    if (block.isOpen) for (const part of parts) block.append(part)
    else if (parts.length > 0) block.closing(parts)
  }

  #whole(call: Call, bytes: Buffer): void {
    const rows = () => this.#block(call, 'more').body()
    const output = new LiveOutput(this.#options, (line) => printLine(rows(), line, this.#screen.theme.output, this.#screen.theme))
    output.push(bytes)
    output.end((count) => printLeft(rows(), count, this.#screen.theme))
  }

  #diff(call: Call, diff: string, stat: DiffStat): void {
    printDiff(this.#block(call, 'more'), diff, stat, this.#diffCap, this.#screen.theme)
  }

  get #diffCap(): Cap {
    const { cap } = this.#options
    return cap === 'all' ? cap : cap * DIFF_FACTOR
  }
}

/** A summary that says what the line of the call says already is not said again. */
function withoutLabel({ failed, parts }: Outcome, { what }: CallLabel): Outcome {
  return { failed, parts: parts.filter(([piece, ...others]) => others.length > 0 || piece?.[0] !== what) }
}

/** An output that is the summary again, which stands in the line of the call. */
function isSaid(output: Buffer, summary: Buffer | undefined): boolean {
  return summary !== undefined && output.length < summary.length + 2 && output.toString().trimEnd() === summary.toString()
}
