import { type ColourDepth, sgr } from './style.js'

/** What a piece of the screen is, to be coloured by; the names are those of theme files. */
const ROLES = [
  ...['text', 'thinking', 'user', 'marker', 'tool', 'margin', 'output', 'note', 'ok', 'failed', 'warning'],
  ...['added', 'removed', 'context', 'added-word', 'removed-word'],
  ...['title', 'heading', 'strong', 'emphasis', 'struck', 'code', 'link', 'address', 'quote', 'bullet', 'rule'],
  ...['comment', 'keyword', 'string', 'number', 'name', 'type', 'operator'],
] as const
export type Role = (typeof ROLES)[number]

/** For each role the parameters of its SGR sequence; '' is the terminal's own look. */
export type Theme = Readonly<Record<Role, string>>

/** For each role how it looks, in the notation of `sgr`. */
export type Looks = Partial<Readonly<Record<Role, string>>>

export type ThemeName = 'dark' | 'light' | 'plain'

/** One of our themes, and what looks otherwise. */
export interface ThemeChoice {
  readonly name: ThemeName
  readonly changes: Looks
}

/** No colours: bold, italic and the like alone. */
const PLAIN: Looks = {
  thinking: 'dim italic',
  user: 'bold',
  tool: 'bold',
  margin: 'dim',
  note: 'dim',
  failed: 'bold',
  warning: 'bold',
  context: 'dim',
  'added-word': 'bold',
  'removed-word': 'bold',
  title: 'bold underline',
  heading: 'bold',
  strong: 'bold',
  emphasis: 'italic',
  struck: 'strike',
  code: 'bold',
  link: 'underline',
  address: 'dim',
  quote: 'italic',
  rule: 'dim',
  comment: 'dim italic',
}

/** The sixteen colours that every terminal has, and that its user chose: legible on dark and on light. */
const SIXTEEN: Looks = {
  ...PLAIN,
  user: 'bold cyan',
  marker: 'cyan',
  ok: 'green',
  failed: 'red',
  warning: 'yellow',
  added: 'green',
  removed: 'red',
  'added-word': 'green inverse',
  'removed-word': 'red inverse',
  title: 'bold underline magenta',
  heading: 'bold magenta',
  code: 'cyan',
  link: 'underline blue',
  bullet: 'cyan',
  keyword: 'magenta',
  string: 'green',
  number: 'yellow',
  name: 'blue',
  type: 'cyan',
}

const DARK: Looks = {
  ...SIXTEEN,
  thinking: 'italic #8b93a1',
  user: 'bold #7dcfff',
  marker: '#7dcfff',
  margin: '#565f6e',
  note: '#8b93a1',
  ok: '#8fd18f',
  failed: '#ff7b85',
  warning: '#e8bf6a',
  added: '#a5d6a7',
  removed: '#f2a0a5',
  context: '#8b93a1',
  'added-word': '#e3ffe3 on #23592b',
  'removed-word': '#ffe3e3 on #6e2730',
  title: 'bold underline #c3a6ff',
  heading: 'bold #c3a6ff',
  code: '#8fd3e8',
  link: 'underline #7fb2ff',
  address: '#8b93a1',
  bullet: '#7dcfff',
  rule: '#565f6e',
  comment: 'italic #7f8897',
  keyword: '#c3a6ff',
  string: '#a5d6a7',
  number: '#f0b080',
  name: '#7fb2ff',
  type: '#8fd3e8',
}

const LIGHT: Looks = {
  ...SIXTEEN,
  thinking: 'italic #6a7180',
  user: 'bold #00658f',
  marker: '#00658f',
  margin: '#a3a9b5',
  note: '#6a7180',
  ok: '#1a7f37',
  failed: '#c4202f',
  warning: '#8a5a00',
  added: '#1a6b30',
  removed: '#a82430',
  context: '#6a7180',
  'added-word': '#0b3d17 on #b4edc1',
  'removed-word': '#5c0b12 on #ffc9cc',
  title: 'bold underline #6639ba',
  heading: 'bold #6639ba',
  code: '#05637a',
  link: 'underline #0550c8',
  address: '#6a7180',
  bullet: '#00658f',
  rule: '#a3a9b5',
  comment: 'italic #6a7180',
  keyword: '#8227b0',
  string: '#1a6b30',
  number: '#9a4a00',
  name: '#0550c8',
  type: '#05637a',
}

const RICH: Readonly<Record<ThemeName, Looks>> = { dark: DARK, light: LIGHT, plain: PLAIN }

/** How everything looks on a terminal of so many colours. With none nothing has a look. */
export function themeFor(depth: ColourDepth, { name, changes }: ThemeChoice): Theme {
  const looks: Looks = { ...(depth === 16 && name !== 'plain' ? SIXTEEN : RICH[name]), ...changes }
  return Object.fromEntries(ROLES.map((role) => [role, depth === 0 ? '' : sgr(looks[role] ?? '', depth)])) as Theme
}

export function isRole(name: string): name is Role {
  return (ROLES as readonly string[]).includes(name)
}

export function roles(): readonly Role[] {
  return ROLES
}
