import { closeSync, fstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, command, EXIT, StageError } from '@agentpipe/stage'
import { type Line, linesOf } from './lines.js'
import { entriesIn, inLog, type LogEntry, openLog } from './log-reader.js'
import { PlainLines } from './plain-line.js'
import { readingOptions, sessionFile } from './reading.js'
import { isBeingWritten } from './session-lock.js'
import { startOfTurns } from './turns.js'

/** How often a log is looked at: what is appended is seen at once by people's measure, and looking costs next to nothing. */
const EACH_MS = 50

const options = {
  last: { type: 'count', value: 'N', about: 'begin with the last N turns, not with the first event' },
  once: { type: 'flag', about: 'end when the session is not being written any more' },
  ...readingOptions,
} as const

/** `event-store follow ID`: the recorded frames, and then those that are recorded while it looks. */
export const follow = command({
  purpose: 'print the frames, and new ones as they are recorded',
  options,
  operands: 'ID',
  examples: ['event-store follow latest --once --last 1 | resp-render', 'event-store follow latest --once | resp grep TOOL_CALL | resp json'],
  async act(context) {
    const { log } = sessionFile(context)
    const { last, once } = context.options
    const follower = new Follower(context, log, last === undefined ? 0 : inLog(log, (descriptor) => startOfTurns(descriptor, last)))
    for (;;) {
      // Asked first: what is written before the writer leaves is still read.
      const done = once && !isBeingWritten(dirname(log))
      follower.read(done)
      context.output.flush()
      if (done || context.output.closed) return
      await sleep(EACH_MS)
    }
  },
})

/** One log, as far as it has been read. */
class Follower {
  readonly #context: Pick<Context, 'output' | 'diagnose'>
  readonly #log: string
  readonly #plain = new PlainLines()
  #descriptor: number
  #at: number
  #lastSeq = 0

  constructor(context: Pick<Context, 'output' | 'diagnose'>, log: string, start: number) {
    this.#context = context
    this.#log = log
    this.#at = start
    this.#descriptor = openLog(log)
  }

  /** Prints what has come; of a last line without LF only `done` knows that nothing more will. Throws StageError (66) where the log is gone. */
  read(done: boolean): void {
    this.#reopenIfReplaced()
    if (fstatSync(this.#descriptor).size === this.#at) return
    const { output } = this.#context
    for (const line of linesOf(this.#descriptor, this.#at)) {
      if (!line.ended && !done) return
      this.#at = line.start + line.length + 1
      for (const { record, frame } of this.#entriesIn(line)) {
        if (record.seq <= this.#lastSeq) continue
        this.#lastSeq = record.seq
        output.pass(frame)
      }
      if (output.closed) return
    }
  }

  #entriesIn(line: Line): readonly LogEntry[] {
    const entry = this.#plain.entryIn(line.bytes)
    if (entry !== undefined) return [entry]
    const { entries, problems } = entriesIn(line)
    for (const problem of problems) this.#context.diagnose(`${this.#log}: line at byte ${line.start}: ${line.ended ? '' : 'torn, '}${problem}`)
    return entries
  }

  /** A log that was repaired, or cut, is read anew: what was printed is not printed again. */
  #reopenIfReplaced(): void {
    const there = statSync(this.#log, { throwIfNoEntry: false })
    if (there === undefined) throw new StageError(EXIT.NO_INPUT, `${this.#log} was removed`)
    const open = fstatSync(this.#descriptor)
    if (there.ino === open.ino && there.size >= this.#at) return
    closeSync(this.#descriptor)
    this.#descriptor = openLog(this.#log)
    this.#at = 0
  }
}
