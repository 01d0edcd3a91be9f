import { type Context, command, usage } from '@agentpipe/stage'
import { type Extent, inLog } from './log-reader.js'
import { Pace } from './pace.js'
import { withProgress } from './progress.js'
import { entriesOf, framesOf, readingOptions, sessionFile } from './reading.js'
import { startOfTurns } from './turns.js'

const options = {
  last: { type: 'count', value: 'N', about: 'only the last N turns' },
  from: { type: 'count', value: 'SEQ', about: 'only from the event of this number on' },
  speed: { type: 'text', value: 'FACTOR', default: 'max', about: 'keep the recorded pace: 1, 2 for twice as fast, or max' },
  ...readingOptions,
} as const

/** `event-store replay ID`: the recorded frames, byte for byte. */
export const replay = command({
  purpose: 'print the recorded frames',
  options,
  operands: 'ID',
  examples: ['event-store replay latest --last 1 | resp-render', 'event-store replay latest > session.resp'],
  async act(context) {
    const { output, trace } = context
    const pace = new Pace(context.options.speed)
    const { log } = sessionFile(context)
    const what = extent(context, log)
    if (!pace.isReal && what.fromSeq === undefined && trace === undefined) {
      return withProgress(context.diagnose, log, (watched) => {
        for (const bytes of framesOf(watched, log, what.start)) {
          output.write(bytes)
          if (output.closed) return
        }
      })
    }
    for (const { record, frame } of entriesOf(context, log, what)) {
      if (pace.isReal) await pace.wait(record.time, () => output.flush())
      output.pass(frame)
      if (output.closed) return
    }
  },
})

function extent({ options: { last, from } }: Context<typeof options>, log: string): Extent {
  if (last !== undefined && from !== undefined) throw usage('--last and --from exclude each other')
  if (last !== undefined) return { start: inLog(log, (descriptor) => startOfTurns(descriptor, last)) }
  return from === undefined ? {} : { fromSeq: from }
}
