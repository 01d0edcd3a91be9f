import { jsonText } from '@agentpipe/message'
import { command, EXIT } from '@agentpipe/stage'
import { type Damaged, entriesIn, logLines, tellProblems } from './log-reader.js'
import { PlainLines } from './plain-line.js'
import { Progress } from './progress.js'
import { oneOfMany, readingOptions, sessionsMeant, telling } from './reading.js'
import type { EventRecord } from './record.js'
import { Statistics } from './statistics.js'
import { report } from './stats-report.js'

const options = {
  all: { type: 'flag', about: 'those of every directory, not only of this one' },
  json: { type: 'flag', about: 'one line of JSON' },
  ...readingOptions,
} as const

/** `event-store stats [ID]`: what sessions have used, and what it cost. */
export const stats = command({
  purpose: 'print tokens, cost and time a tool',
  options,
  operands: '[ID]',
  examples: ['event-store stats latest', 'event-store stats --all --json | jq .cost_usd'],
  act(context) {
    const sessions = sessionsMeant(context, context.options.all)
    const progress = new Progress(sessions)
    const statistics = new Statistics(new Set(sessions.map(({ id }) => id)))
    const diagnose = progress.around(context.diagnose)
    const statuses = sessions.map(({ log }) =>
      oneOfMany(diagnose, () => {
        for (const record of telling({ diagnose }, log, (damaged) => recordsOf(log, damaged, progress.read))) statistics.take(record)
        statistics.endSession()
      }),
    )
    progress.clear()
    const status = Math.max(EXIT.OK, ...statuses)
    if (status !== EXIT.OK && !statuses.includes(EXIT.OK)) return status
    const figures = statistics.figures()
    if (context.options.json) context.output.write(`${jsonText(figures)}\n`)
    else for (const line of report(figures)) context.output.write(`${line}\n`)
    return status
  },
})

/** The records of a log; good until the next one is asked for. */
function* recordsOf(log: string, damaged: Damaged, read: (bytes: number) => void): Generator<EventRecord> {
  const plain = new PlainLines()
  let number = 0
  for (const line of logLines(log)) {
    number++
    read(line.length)
    const record = plain.recordIn(line.bytes)
    if (record !== undefined) {
      yield record
      continue
    }
    const { entries, problems } = entriesIn(line)
    tellProblems(line, problems, number, damaged)
    for (const entry of entries) yield entry.record
  }
}
