import { cellsOf } from './cells.js'
import { changedWords, type Part } from './changed-words.js'

export interface DiffStat {
  readonly added: number
  readonly removed: number
  /** Digits of the largest line number. */
  readonly digits: number
}

/** One line of a diff to show: its number in the file ('' for none), its sign, and what stands there. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'context' | 'heading'
  readonly number: string
  readonly text: string
  /** The text in parts, where some of it was changed. */
  readonly parts?: readonly Part[]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
/** More changed lines in a row than this are not looked at together. */
const LONGEST_BLOCK = 1000
/** More than these are not compared one by one. */
const MOST_COMPARED = 200
/** Digits of a line number that are believed. */
const LONGEST_NUMBER = 9

/**
 * The lines of a unified diff. Added and kept lines have the number of the new file, removed ones that of the old. File names
 * are left out, unless there are several; so is the heading of the first hunk. Changes of white space alone are made visible.
 */
export function* diffLines(diff: string): Generator<DiffLine> {
  let block: DiffLine[] = []
  for (const line of numberedLines(diff)) {
    if (line.kind === 'added' || line.kind === 'removed') {
      block.push(line)
      if (block.length < LONGEST_BLOCK) continue
    }
    yield* withChanges(block)
    block = []
    if (line.kind !== 'added' && line.kind !== 'removed') yield line
  }
  yield* withChanges(block)
}

export function diffStat(diff: string): DiffStat {
  let [added, removed, digits] = [0, 0, 1]
  for (const { kind, number } of numberedLines(diff)) {
    if (kind === 'added') added++
    else if (kind === 'removed') removed++
    digits = Math.max(digits, number.length)
  }
  return { added, removed, digits }
}

function* numberedLines(diff: string): Generator<DiffLine> {
  // Lines that the hunk still has by its heading: `--- a` among them is a removed line, `-- a`.
  let [oldLeft, newLeft, oldLine, newLine, hunks, files] = [0, 0, 0, 0, 0, 0]
  for (const line of linesOf(diff)) {
    // A line of a hunk has one of these signs; an empty one has lost its space. Whatever else comes ends the hunk.
    if (!/^(?:[ +\-\\]|$)/.test(line)) oldLeft = newLeft = 0
    const hunk = oldLeft + newLeft <= 0 ? HUNK.exec(line) : null
    if (hunk) {
      ;[oldLine, oldLeft, newLine, newLeft] = [number(hunk[1]), number(hunk[2] ?? '1'), number(hunk[3]), number(hunk[4] ?? '1')]
      if (hunks++ > 0) yield { kind: 'heading', number: '', text: '⋯' }
    } else if (oldLeft + newLeft <= 0) {
      if (!line.startsWith('+++ ')) continue
      hunks = 0
      if (files++ > 0) yield { kind: 'heading', number: '', text: line.slice(4) }
    } else if (line.startsWith('+')) {
      newLeft--
      yield { kind: 'added', number: String(newLine++), text: line.slice(1) }
    } else if (line.startsWith('-')) {
      oldLeft--
      yield { kind: 'removed', number: String(oldLine++), text: line.slice(1) }
    } else if (line.startsWith('\\')) {
      yield { kind: 'heading', number: '', text: line }
    } else {
      oldLeft--
      newLeft--
      oldLine++
      yield { kind: 'context', number: String(newLine++), text: line.slice(1) }
    }
  }
}

function number(digits: string | undefined): number {
  return Number((digits ?? '0').slice(0, LONGEST_NUMBER))
}

/** Lines without building them all at once. An empty last one is none. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    if (end < 0) {
      yield text.slice(start)
      return
    }
    yield text.slice(start, end)
    start = end + 1
  }
}

/** Removed lines and the added ones in their place: what they differ in. Where that is white space only, it is drawn in both. */
function withChanges(block: readonly DiffLine[]): readonly DiffLine[] {
  const removed = block.filter(({ kind }) => kind === 'removed')
  const added = block.filter(({ kind }) => kind === 'added')
  if (removed.length !== added.length || removed.length > MOST_COMPARED) return block
  const changed = new Map<DiffLine, Partial<DiffLine>>()
  removed.forEach((line, index) => {
    const other = added[index] as DiffLine
    if (line.text.replace(/\s/g, '') === other.text.replace(/\s/g, '')) {
      for (const each of [line, other]) changed.set(each, { text: drawnSpace(each.text) })
      return
    }
    const words = changedWords(line.text, other.text)
    if (words) changed.set(line, { parts: words.before }).set(other, { parts: words.after })
  })
  return block.map((line) => ({ ...line, ...changed.get(line) }))
}

/** Tabs as arrows up to the stop of 8, spaces as dots, and a CR at the end, which a terminal does not show, as \r. */
function drawnSpace(text: string): string {
  let drawn = ''
  for (const [index, part] of text.replace(/\r$/, '\\r').replace(/ /g, '·').split('\t').entries()) {
    if (index > 0) drawn += '→'.padEnd(8 - (cellsOf(drawn) % 8))
    drawn += part
  }
  return drawn
}
