/** What a piece of the screen is, to be coloured by. */
export type Role =
  | 'text'
  | 'thinking'
  | 'user'
  | 'marker'
  | 'tool'
  | 'margin'
  | 'output'
  | 'note'
  | 'ok'
  | 'failed'
  | 'warning'
  | 'added'
  | 'removed'
  | 'context'

/** How many colours the terminal has; 0: not one escape sequence is written. */
export type ColourDepth = 0 | 16 | 256 | 16777216

/** For each role the parameters of its SGR sequence; '' is the terminal's own look. */
export type Theme = Readonly<Record<Role, string>>

/** The sixteen colours that every terminal has, and that its user chose: legible on dark and on light. */
const SIXTEEN: Theme = {
  text: '',
  thinking: '2;3',
  user: '1;36',
  marker: '36',
  tool: '1',
  margin: '2',
  output: '',
  note: '2',
  ok: '32',
  failed: '31',
  warning: '33',
  added: '32',
  removed: '31',
  context: '2',
}

const PLAIN = Object.fromEntries(Object.keys(SIXTEEN).map((role) => [role, ''])) as Theme

export function themeFor(depth: ColourDepth): Theme {
  return depth === 0 ? PLAIN : SIXTEEN
}
