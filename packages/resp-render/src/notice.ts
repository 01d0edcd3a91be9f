import { margin } from './rows.js'
import type { Block, Screen } from './screen.js'
import type { Role } from './theme.js'
import { Words } from './words.js'

/** Text and what it is. */
export type Piece = readonly [text: string, role: Role]

/** A line or a few that say what happened, behind a marker: `✗ Error: the key was refused`. Compact ones stand together. */
export function notice(screen: Screen, marker: string, role: Role, pieces: readonly Piece[], compact = true): void {
  const rows = screen.rows({ margin: margin(`${marker} `, screen.theme[role]) })
  const words = new Words(rows)
  const block: Block = { kind: 'notice', compact, end: () => {} }
  screen.begin(block)
  for (const [text, pieceRole] of pieces) words.write(text, screen.theme[pieceRole])
  words.endWord()
  rows.end()
}
