import { openSync } from 'node:fs'
import { isatty, WriteStream } from 'node:tty'
import { EXIT, STDOUT, systemError, usage } from '@agentpipe/stage'
import type { ColourDepth } from './style.js'

const DEFAULT_COLUMNS = 80
const MOST_COLUMNS = 1000

/** Cells of a row: `--width`, else the terminal's, else COLUMNS, else 80. Throws StageError (64) for a width that is none. */
export function terminalWidth(option: number | undefined, terminal: number = STDOUT, environment: NodeJS.ProcessEnv = process.env): number {
  if (option !== undefined) {
    if (option < 1 || option > MOST_COLUMNS) throw usage(`--width: expected 1 to ${MOST_COLUMNS}, found ${option}`)
    return option
  }
  return asColumns(windowColumns(terminal)) ?? asColumns(columnsVariable(environment)) ?? DEFAULT_COLUMNS
}

/** Opens the terminal that we run on, wherever standard output goes. Throws StageError (69) where there is none. */
export function openTerminal(): number {
  try {
    return openSync('/dev/tty', 'w')
  } catch (error) {
    throw systemError(EXIT.UNAVAILABLE, '--tty: cannot open the terminal', error)
  }
}

export function isTerminal(descriptor: number): boolean {
  return isatty(descriptor)
}

/** A stream of Node knows the size that was at its beginning or at its last refresh, and has no public word for one. */
type Window = WriteStream & { readonly _refreshSize?: () => void }

/** One a terminal, however often its size is asked for. */
const windows = new Map<number, Window>()

function windowColumns(terminal: number): number {
  if (!isatty(terminal)) return 0
  try {
    const known = windows.get(terminal)
    if (known?._refreshSize === undefined) windows.set(terminal, new WriteStream(terminal))
    else known._refreshSize()
    return windows.get(terminal)?.getWindowSize()[0] ?? 0
  } catch {
    return 0
  }
}

function columnsVariable({ COLUMNS: text = '' }: NodeJS.ProcessEnv): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}

function asColumns(columns: number | undefined): number | undefined {
  return columns !== undefined && columns > 0 ? Math.min(columns, MOST_COLUMNS) : undefined
}

/**
 * How many colours to use. `auto`: those of the terminal that standard output is, if it is one. NO_COLOR (not empty) and
 * TERM=dumb turn them off there, FORCE_COLOR turns them on anywhere; NO_COLOR wins.
 */
export function colourDepth(option: 'auto' | 'always' | 'never', environment: NodeJS.ProcessEnv = process.env, terminal = isatty(STDOUT)): ColourDepth {
  if (option === 'never') return 0
  if (option === 'always') return depthOf(environment)
  if (environment.NO_COLOR) return 0
  const forced = environment.FORCE_COLOR
  if (forced) return FORCED[forced] ?? depthOf(environment)
  return terminal && environment.TERM !== 'dumb' ? depthOf(environment) : 0
}

const FORCED: Readonly<Record<string, ColourDepth>> = { '0': 0, false: 0, '2': 256, '3': 16777216 }

/** Terminals that have all colours but may not say so in COLORTERM, which ssh does not hand on. */
const TRUE_COLOUR = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)|-direct$|-truecolor$/

function depthOf({ COLORTERM, TERM = '', WT_SESSION }: NodeJS.ProcessEnv): ColourDepth {
  if (COLORTERM === 'truecolor' || COLORTERM === '24bit' || TRUE_COLOUR.test(TERM) || WT_SESSION !== undefined) return 16777216
  return TERM.includes('256color') ? 256 : 16
}

/** Terminals that open links, by what they say of themselves. */
const WITH_LINKS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio|WarpTerminal|mintty)$/

/** Whether the terminal takes the addresses of links (OSC 8). FORCE_HYPERLINK says it for those that don't tell. */
export function takesLinks(environment: NodeJS.ProcessEnv = process.env): boolean {
  const { FORCE_HYPERLINK, TERM = '', TERM_PROGRAM = '', VTE_VERSION, KITTY_WINDOW_ID, WT_SESSION, KONSOLE_VERSION, DOMTERM } = environment
  if (FORCE_HYPERLINK !== undefined && FORCE_HYPERLINK !== '') return FORCE_HYPERLINK !== '0'
  if (/^(?:tmux|screen)/.test(TERM)) return false
  if (WITH_LINKS.test(TERM_PROGRAM) || /^(?:xterm-kitty|xterm-ghostty|foot|alacritty|contour)/.test(TERM)) return true
  return Number(VTE_VERSION) >= 5000 || [KITTY_WINDOW_ID, WT_SESSION, DOMTERM].some((each) => each !== undefined) || Number(KONSOLE_VERSION) >= 201200
}
