import { jsonText } from '@agentpipe/message'
import { command } from '@agentpipe/stage'
import { entriesIn, logLines } from './log-reader.js'
import { PlainLines } from './plain-line.js'
import { Progress } from './progress.js'
import { readingOptions, sessionsMeant } from './reading.js'
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
    const plain = new PlainLines()
    for (const { log } of sessions) {
      statistics.beginSession()
      for (const line of logLines(log)) {
        progress.read(line.length)
        const record = plain.recordIn(line.bytes)
        if (record !== undefined) statistics.take(record)
        else for (const entry of entriesIn(line).entries) statistics.take(entry.record)
      }
    }
    progress.clear()
    const figures = statistics.figures()
    if (context.options.json) context.output.write(`${jsonText(figures)}\n`)
    else for (const line of report(figures)) context.output.write(`${line}\n`)
  },
})
