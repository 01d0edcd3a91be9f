import type { Frame } from '@agentpipe/frame'
import { checkMessage, isSessionId, messageFields, SESSION_ID_FORM } from '@agentpipe/message'
import { type Context, command, EXIT, type FrameStage, type Output, StageError, systemError, usage } from '@agentpipe/stage'
import { HeldFrames } from './held-frames.js'
import { LineBuffer } from './line-buffer.js'
import { AppendError } from './log-writer.js'
import { isLong, recordPieces } from './long-record.js'
import { isRecorded, recordLine } from './record.js'
import { openRecording, type Recording, type RecordingOptions } from './recording.js'
import { Redaction } from './redaction.js'
import { type LinePrinter, linePrinter } from './stream-json.js'

const options = {
  session: { type: 'text', value: 'ID', about: "session to append to, or a new one's id" },
  continue: { type: 'flag', about: 'append to the latest session of this directory' },
  'stream-json': { type: 'text', value: 'FD', optionalValue: true, about: 'print the lines too, in place of frames or to FD' },
  'path-file': { type: 'text', value: 'FILE', about: "write the path of the session's log to FILE", rare: true },
  fsync: { type: 'text', choices: ['always', 'turn', 'never'], default: 'turn', value: 'WHEN', about: 'wait for the disk', rare: true },
  redact: { type: 'list', value: 'PATTERN', about: 'record [redacted] in place of what matches', rare: true },
  dir: { type: 'text', value: 'DIR', about: 'state directory, in place of XDG_STATE_HOME/agentpipe', rare: true },
} as const

const LF = 0x0a

/** The events that `--fsync turn` waits for. */
const TURNING_POINTS: ReadonlySet<string> = new Set(['USER_MESSAGE', 'TOOL_RESULT', 'STOP'])

/** `event-store`: each event is in the log before its frame goes on. */
export const recorder = command({
  options,
  stage(context) {
    const { session } = context.options
    if (session !== undefined && !isSessionId(session)) throw usage(`--session: expected ${SESSION_ID_FORM}, found ${JSON.stringify(session)}`)
    if (session !== undefined && context.options.continue) throw usage('--session and --continue exclude each other')
    // A log that has grown to the limit of ulimit -f is an error to report, not a signal to die from.
    process.on('SIGXFSZ', () => {})
    const { redact } = context.options
    const held = redact.length > 0 ? new HeldFrames(new Redaction(redact)) : undefined
    return new Recorder(context, context.options, linePrinter(context.options['stream-json'], context), held)
  },
})

class Recorder implements FrameStage {
  readonly readsOn = 'when closed'
  readonly prints: 'frames' | 'text'
  readonly outputs: readonly Output[]
  readonly #context: Context
  readonly #options: RecordingOptions
  readonly #printer: LinePrinter | undefined
  readonly #held: HeldFrames | undefined
  #failed = false
  #recording: Recording | undefined
  #frames: Frame[] = []
  readonly #lines = new LineBuffer()

  constructor(context: Context, options: RecordingOptions, printer: LinePrinter | undefined, held: HeldFrames | undefined) {
    this.#held = held
    this.#context = context
    this.#options = options
    this.#printer = printer
    this.prints = printer?.inPlace ? 'text' : 'frames'
    this.outputs = printer === undefined || printer.inPlace ? [] : [printer.output]
  }

  frame(frame: Frame): void {
    if (isRecorded(frame.type)) checkMessage(frame)
    this.#frames.push(frame)
  }

  batch(): void {
    const frames = this.#frames
    this.#frames = []
    this.#takeAll(this.#held?.take(frames) ?? frames)
  }

  async end(): Promise<number> {
    try {
      this.#takeRest()
      this.#recording?.close()
    } catch (error) {
      throw this.#refuse(error)
    }
    await this.#printer?.output.finished()
    const failure = this.#printer?.failure
    if (failure !== undefined) throw failure
    return EXIT.OK
  }

  cancel(): void {
    if (!this.#failed) this.#takeRest()
  }

  #takeRest(): void {
    if (this.#held !== undefined) this.#takeAll(this.#held.rest())
  }

  /** A long frame is taken by itself. */
  #takeAll(frames: readonly Frame[]): void {
    let start = 0
    for (const [index, frame] of frames.entries()) {
      if (!isLong(frame)) continue
      this.#take(frames.slice(start, index))
      this.#take([frame])
      start = index + 1
    }
    this.#take(start === 0 ? frames : frames.slice(start))
  }

  /** Records events and passes all frames on. Throws what it refused them for. */
  #take(frames: readonly Frame[]): void {
    try {
      this.#record(frames.filter(({ type }) => isRecorded(type)))
    } catch (error) {
      const written = error instanceof AppendError ? error.written : Buffer.alloc(0)
      this.#printer?.output.write(Buffer.from(written))
      this.#pass(framesBefore(frames, linesIn(written)))
      throw this.#refuse(error)
    }
    this.#pass(frames)
  }

  /** Appends events. Throws AppendError, or StageError where there is no log to append to. */
  #record(events: readonly Frame[]): void {
    const [first] = events
    if (first === undefined) return
    this.#recording ??= openRecording(this.#options, first, this.#context.diagnose)
    const recording = this.#recording
    const time = new Date().toISOString()
    if (isLong(first) && this.#recordLong(recording, first, time)) return
    for (const event of events) this.#lines.put(recordLine(this.#held?.recorded(event) ?? event, ++recording.seq, time))
    const lines = this.#lines.take()
    recording.log.append(lines)
    if (this.#mustSync(events)) recording.log.sync()
    this.#printer?.output.write(Buffer.from(lines))
  }

  /** Appends a long event in pieces, if it can be; they are made anew to be printed. */
  #recordLong(recording: Recording, event: Frame, time: string): boolean {
    const recorded = this.#held?.recorded(event) ?? event
    const pieces = () => recordPieces(recorded, recording.seq + 1, time)
    const appended = pieces()
    if (appended === undefined) return false
    recording.log.appendPieces(appended)
    if (this.#mustSync([event])) recording.log.sync()
    for (const piece of this.#printer === undefined ? [] : (pieces() ?? [])) {
      this.#printer?.output.write(piece)
      this.#printer?.output.flush()
    }
    recording.seq++
    return true
  }

  #mustSync(events: readonly Frame[]): boolean {
    const { fsync } = this.#options
    return fsync === 'always' || (fsync === 'turn' && events.some(({ type }) => TURNING_POINTS.has(type)))
  }

  #pass(frames: readonly Frame[]): void {
    if (this.#printer?.inPlace) return
    for (const frame of frames) this.#context.output.pass(frame)
  }

  /** The error to leave with. It goes downstream too: who shows the conversation says why it ends. */
  #refuse(error: unknown): unknown {
    if (this.#failed) return error
    this.#failed = true
    const { name, output } = this.#context
    const known = error instanceof AppendError ? systemError(EXIT.IO, `cannot write ${this.#recording?.log.path}`, error.cause) : error
    if (known instanceof StageError && this.prints === 'frames') {
      output.send(messageFields('ERROR', [`${name}: ${known.message}`], { code: 'not_recorded', source: name }))
    }
    return known
  }
}

function linesIn(bytes: Buffer): number {
  let count = 0
  for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, lf + 1)) count++
  return count
}

/** The frames before the first event that is not among the `recorded` ones. */
function framesBefore(frames: readonly Frame[], recorded: number): Frame[] {
  let count = 0
  const end = frames.findIndex(({ type }) => isRecorded(type) && ++count > recorded)
  return frames.slice(0, end < 0 ? frames.length : end)
}
