import type { Block, Screen } from './screen.js'
import type { Role } from './theme.js'
import { Words } from './words.js'

/** Text and what it is. */
export type Piece = readonly [text: string, role: Role]

/** A line or a few that say what happened, behind a marker: `✗ Error: the key was refused`. Compact ones stand together. */
export function notice(screen: Screen, marker: string, role: Role, pieces: readonly Piece[], compact = true): void {
  const margin = { first: `${marker} `, rest: '  ', style: screen.theme[role], cells: 2 }
  const rows = screen.rows({ margin })
  const words = new Words(rows)
  const block: Block = { kind: 'notice', compact, end: () => {} }
  screen.begin(block)
  for (const [text, pieceRole] of pieces) words.write(text, screen.theme[pieceRole])
  words.endWord()
  rows.end()
}
