import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Names that are told, where there are more than one. */
const MOST = 60

export interface Completion {
  /** Where in the draft it begins; it ends at the cursor. */
  readonly from: number
  /** What can be put in its place. */
  readonly choices: readonly string[]
}

/** What the word in front of the cursor may become: a path behind `@`, or, at the beginning, a command. */
export function complete(text: string, cursor: number, commands: () => readonly string[]): Completion | undefined {
  const before = text.slice(0, cursor)
  const command = /^\/([\w-]*)$/.exec(before)
  if (command) return { from: 1, choices: commands().filter((name) => name.startsWith(command[1] as string)) }
  const path = /(?:^|\s)@(\S*)$/.exec(before)
  return path ? { from: cursor - (path[1] as string).length, choices: paths(path[1] as string) } : undefined
}

/** What all of them begin with. */
export function common(choices: readonly string[]): string {
  const [first = '', ...others] = choices
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  // Not half a character.
  return first.slice(0, /[\ud800-\udbff]/.test(first.charAt(length - 1)) ? length - 1 : length)
}

/** The choices as a line or a few. */
export function listed(choices: readonly string[]): string {
  const names = choices.slice(0, MOST).map((choice) => choice.replace(/.*\/(?=.)/s, '').replaceAll('\n', '\\n'))
  return choices.length > MOST ? `${names.join('  ')}  … ${choices.length - MOST} more` : names.join('  ')
}

/** Files and directories (with a slash) whose path begins so. Hidden ones only where that is asked for; names with blanks or line ends in them can't be told from words. */
function paths(start: string): string[] {
  const [, directory = '', name = ''] = /^(.*\/)?([^/]*)$/s.exec(start) ?? []
  const place = directory.startsWith('~/') ? join(homedir(), directory.slice(2)) : directory || '.'
  try {
    return readdirSync(place, { withFileTypes: true })
      .filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')) && !/[\s\p{Cc}\ufffd]/u.test(entry.name))
      .map((entry) => `${directory}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch {
    return []
  }
}
