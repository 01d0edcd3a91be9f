import type { Frame } from '@agentpipe/frame'
import { attributesOf } from './attributes.js'
import { allVisible } from './invisible.js'
import { notice, type Piece } from './notice.js'
import { margin } from './rows.js'
import type { Screen } from './screen.js'

const MARGIN = '  │ '
/** A row that goes on with a line is no line of its own. */
const WRAPPED = '  ┆ '

/**
 * A PERMISSION_REQUEST, whole: whoever decides sees every character of what would be done. Nothing is cut, nothing dropped;
 * what a terminal would not show as itself stands as an escape.
 */
export function permissionRequest(screen: Screen, frame: Frame): void {
  const { theme } = screen
  const [name, reason] = [frame.text(2) as string, frame.text(3) as string].map((text) => allVisible(text).replace(/\n/g, '\\n'))
  const pieces: readonly Piece[] = [
    [`${name}`, 'tool'],
    [`  asks for permission: ${reason}`, 'warning'],
  ]
  notice(screen, '?', 'warning', pieces, false)
  const input = attributesOf(frame).get('input')
  if (input === undefined || input.length === 0) return
  for (const line of allVisible(input.toString()).replace(/\n$/, '').split('\n')) {
    const rows = screen.rows({ margin: margin(MARGIN, theme.warning, WRAPPED) })
    rows.putText(line, theme.text)
    rows.newline()
  }
}
