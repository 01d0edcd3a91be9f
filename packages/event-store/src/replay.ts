import { command } from '@agentpipe/stage'
import { entriesOf, readingOptions, sessionFile } from './reading.js'

/** `event-store replay ID`: the recorded frames, byte for byte. */
export const replay = command({
  purpose: 'print the recorded frames',
  options: readingOptions,
  operands: 'ID',
  examples: ['event-store replay latest | resp-render', 'event-store replay latest > session.resp'],
  act(context) {
    const { output } = context
    for (const { frame } of entriesOf(context, sessionFile(context).log)) {
      output.pass(frame)
      if (output.backedUp) output.flush()
      if (output.closed) return
    }
  },
})
