import { printLine } from './excerpt.js'
import { LiveOutput } from './live-output.js'
import { margin } from './rows.js'
import type { Screen } from './screen.js'

const LF = 0x0a

/** What user-prompt has to say by the `show` of a PROMPT, whole: the help, what a command printed. Pieces one after the other are one text, until one begins with LF. */
export function shown(screen: Screen, text: Buffer): void {
  const { theme } = screen
  const rows = screen.rows({ margin: margin('  ', theme.margin) })
  if (screen.current?.kind !== 'shown' || text[0] === LF) screen.begin({ kind: 'shown', compact: false, end: () => {} })
  const output = new LiveOutput({ cap: 'all', colours: false }, (line) => printLine(rows, line, theme.output, theme))
  output.push(text)
  output.end(() => {})
  rows.end()
}
