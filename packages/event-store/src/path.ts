import { command } from '@agentpipe/stage'
import { readingOptions, sessionFile } from './reading.js'

/** `event-store path ID`: where a session's log is. */
export const path = command({
  purpose: 'print the path of events.jsonl',
  options: readingOptions,
  operands: 'ID',
  examples: ['event-store path latest', 'wc -l "$(event-store path latest)"'],
  act(context) {
    context.output.write(`${sessionFile(context).log}\n`)
  },
})
