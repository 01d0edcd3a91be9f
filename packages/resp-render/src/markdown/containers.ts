/** A list, as long as its items follow each other. */
export interface List {
  readonly sign: string
  /** The number of its next item; undefined for bullets. */
  next: number | undefined
}

export type Container =
  | { readonly type: 'quote' }
  /** `indent` is by how many columns its content is indented; `marker` stands in front of the first thing in it, and is shown once. */
  | { readonly type: 'item'; readonly list: List; readonly indent: number; marker: string | undefined; readonly cells: number; empty: boolean }

/** More quotes and items than this are not opened in each other: their markers are text. */
export const DEEPEST = 16

const TAB_STOP = 4
const MARKERS = /^[ \t>*+\-.)\d]*/

/** The line with the tabs in front of its text as spaces: what is between markers counts in columns. */
export function expanded(line: string): string {
  if (!line.includes('\t')) return line
  const end = (MARKERS.exec(line) as RegExpExecArray)[0].length
  let start = ''
  for (const character of line.slice(0, end)) start += character === '\t' ? ' '.repeat(TAB_STOP - (start.length % TAB_STOP)) : character
  return start + line.slice(end)
}

/** Spaces at a place of a line. */
export function spacesAt(line: string, at: number): number {
  let end = at
  while (line.charCodeAt(end) === 0x20) end++
  return end - at
}

/** How far the containers that are open go on in a line: how many, and where what is in them begins. Undefined: not known yet. */
export function matchContainers(open: readonly Container[], line: string, complete: boolean): { readonly matched: number; readonly at: number } | undefined {
  let at = 0
  let matched = 0
  for (const container of open) {
    const indent = spacesAt(line, at)
    const blank = at + indent >= line.length
    if (container.type === 'quote') {
      if (blank && !complete) return undefined
      if (indent > 3 || line[at + indent] !== '>') break
      at += indent + 1
      if (at >= line.length && !complete) return undefined
      if (line[at] === ' ') at++
    } else if (indent >= container.indent) at += container.indent
    else if (!blank) break
    else if (!complete) return undefined
    else if (container.empty) break
    else at += indent
    matched++
  }
  return { matched, at }
}
