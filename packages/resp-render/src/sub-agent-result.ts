import type { Frame } from '@agentpipe/frame'
import { attributesOf } from './attributes.js'
import { CallBlock } from './call-block.js'
import { type Cap, printLeft, printLine } from './excerpt.js'
import { oneLine } from './invisible.js'
import { LiveOutput } from './live-output.js'
import type { Screen } from './screen.js'

/** SUB_AGENT_RESULT: what it was to do, how it ended, and what it says, capped like any output. */
export function subAgentResult(screen: Screen, frame: Frame, cap: Cap): void {
  const { theme } = screen
  const status = oneLine(frame.field(2), 40)
  const session = oneLine(frame.field(1), 80)
  const what = oneLine(attributesOf(frame).get('description'))
  const block = new CallBlock(screen, '', { name: 'SubAgent', what: what === '' ? session : what }, status === 'ok' ? 'ok' : 'failed')
  if (status !== 'ok') block.append([[status, 'failed']])
  const output = new LiveOutput({ cap, colours: false }, (line) => printLine(block.body(), line, theme.output, theme))
  output.push(frame.field(3) as Buffer)
  output.end((count) => printLeft(block.body(), count, theme))
}
