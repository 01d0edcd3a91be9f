/** What a line, or what is left of it behind markers, begins. */
export type LineKind =
  | { readonly type: 'quote' | 'text' | 'row' | 'definition' | 'rule' }
  | { readonly type: 'heading'; readonly level: number; readonly marker: number }
  | { readonly type: 'underline'; readonly level: 1 | 2 }
  | { readonly type: 'fence'; readonly mark: string; readonly length: number; readonly language: string }
  /** `sign` is the character that tells lists apart, `marker` how long the marker is. */
  | { readonly type: 'item'; readonly sign: string; readonly number: number | undefined; readonly marker: number; readonly empty: boolean }
  | { readonly type: 'task'; readonly done: boolean }
  | { readonly type: 'html'; readonly end: RegExp | undefined }

/** Where the line stands. */
export interface Place {
  /** It may go on with a paragraph; all its containers are those of the paragraph. */
  readonly inParagraph: boolean
  /** It may go on with a paragraph whose containers it has not all. */
  readonly lazy: boolean
  /** It is the first thing in an item of a list. */
  readonly inItem: boolean
  /** No more containers may be opened. */
  readonly full: boolean
}

/** So much of a line is waited for to find out what it is; of a row of a table and of a link's definition more. */
const LONGEST_START = 300
const LONGEST_ROW = 4096

const TEXT: LineKind = { type: 'text' }
const FIRST = /[#>*+\-_=`~|:<[\d]/
const UNFINISHED_RULE = /^(?:(?:\*[ \t]*)+|(?:-[ \t]*)+|(?:_[ \t]*)+|=+[ \t]*)$/
const RULE = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const ITEM = /^(?:([-+*])|(\d{1,9})([.)]))(?=[ \t]|$)/

/**
 * What `rest` begins: a line without its indentation, not empty. Undefined where that is not known before more of the line has come.
 * The rules are those of CommonMark 0.31, and GFM's for tables and tasks.
 */
export function lineKind(rest: string, complete: boolean, place: Place): LineKind | undefined {
  if (!FIRST.test(rest[0] as string)) return TEXT
  // A line that is too long is judged as if its end had not come, whether it has or not.
  const whole = complete && rest.length <= (/^[|[]/.test(rest) ? LONGEST_ROW : LONGEST_START)
  if (!complete && isUnfinished(rest, place)) return undefined
  return containerKind(rest, whole, place) ?? blockKind(rest, whole, place) ?? TEXT
}

function isUnfinished(rest: string, place: Place): boolean {
  const first = rest[0]
  if (rest.length > LONGEST_ROW) return false
  if (first === '|') return !place.lazy
  if (first === '[' && !place.inParagraph && !place.lazy) return isUnfinishedLabel(rest, place)
  if (rest.length > LONGEST_START) return false
  if (UNFINISHED_RULE.test(rest)) return true
  if (/^(?:#{1,6}|[+][ \t]*|\d{1,9}(?:[.)][ \t]*)?)$/.test(rest) || DELIMITERS.test(rest)) return true
  return /^(?:`{1,2}|`{3,}[^`]*|~{1,2}|~{3}.*|<[A-Za-z!/?]?[^\n]*)$/.test(rest)
}

function isUnfinishedLabel(rest: string, { inItem }: Place): boolean {
  if (inItem && /^\[(?:[ xX]\]?)?$/.test(rest)) return true
  if (/^\[(?:[^[\]\\]|\\.?)*\]?$/.test(rest)) return rest.length <= LONGEST_START
  return isDefinition(rest)
}

/** The line below the heads of a table; only one that begins with a bar is taken for it at once. */
const DELIMITERS = /^[:-][-:| \t]*$/

/** A footnote looks like one, and is text. */
const DEFINITION = /^\[(?!\^)(?:[^[\]\\]|\\.)+\]:/

function isDefinition(rest: string): boolean {
  const [start] = DEFINITION.exec(rest) ?? []
  return start !== undefined && start.length <= LONGEST_START + 1
}

function containerKind(rest: string, complete: boolean, { inParagraph, inItem, full }: Place): LineKind | undefined {
  if (complete && RULE.test(rest) && !(inParagraph && /^-+[ \t]*$/.test(rest))) return { type: 'rule' }
  const task = inItem ? /^\[([ xX])\](?=[ \t])/.exec(rest) : null
  if (task) return { type: 'task', done: task[1] !== ' ' }
  if (full) return undefined
  if (rest.startsWith('>')) return { type: 'quote' }
  const item = ITEM.exec(rest)
  if (!item) return undefined
  const [marker, bullet, digits, delimiter] = item
  const empty = rest.slice(marker.length).trim() === ''
  const number = digits === undefined ? undefined : Number(digits)
  if (inParagraph && (empty || (number !== undefined && number !== 1))) return undefined
  return { type: 'item', sign: bullet ?? (delimiter as string), number, marker: marker.length, empty }
}

function blockKind(rest: string, complete: boolean, place: Place): LineKind | undefined {
  const heading = /^(#{1,6})(?=[ \t]|$)/.exec(rest)
  if (heading) return { type: 'heading', level: heading[0].length, marker: heading[0].length }
  if (!complete) return undefined
  if (place.inParagraph && /^(?:=+|-+)[ \t]*$/.test(rest)) return { type: 'underline', level: rest.startsWith('=') ? 1 : 2 }
  const fence = /^(`{3,})([^`]*)$/.exec(rest) ?? /^(~{3,})(.*)$/s.exec(rest)
  if (fence) {
    const [, marks = '', info = ''] = fence
    return { type: 'fence', mark: marks[0] as string, length: marks.length, language: /^\S*/.exec(info.trim())?.[0] ?? '' }
  }
  if (rest.startsWith('<')) return htmlKind(rest, place)
  if (rest.startsWith('|') || (rest.includes('|') && DELIMITERS.test(rest))) return { type: 'row' }
  return !place.inParagraph && !place.lazy && isDefinition(rest) ? { type: 'definition' } : undefined
}

/** The seven kinds of HTML blocks: how each begins, and where it ends, if not at an empty line. */
const HTML: readonly (readonly [start: RegExp, end?: RegExp])[] = [
  [/^<(?:script|pre|textarea|style)(?:\s|>|$)/i, /<\/(?:script|pre|textarea|style)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![A-Za-z]/, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [
    /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:\s|\/?>|$)/i,
  ],
]
const ATTRIBUTE = `\\s+[A-Za-z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s"'=<>\`]+|'[^']*'|"[^"]*"))?`
const LONE_TAG = new RegExp(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:${ATTRIBUTE})*\\s*/?>|</[A-Za-z][A-Za-z0-9-]*\\s*>)\\s*$`)

function htmlKind(rest: string, { inParagraph, lazy }: Place): LineKind | undefined {
  for (const [start, end] of HTML) if (start.test(rest)) return { type: 'html', end }
  return !inParagraph && !lazy && LONE_TAG.test(rest) ? { type: 'html', end: undefined } : undefined
}
