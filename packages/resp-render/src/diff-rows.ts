import type { CallBlock } from './call-block.js'
import { type DiffLine, type DiffStat, diffLines } from './diff.js'
import { type Cap, printLeft, printLine } from './excerpt.js'
import { LineBuffer } from './line-buffer.js'
import { Sanitiser, type TextSink } from './sanitiser.js'
import type { Theme } from './theme.js'

/** Characters of a line that are shown. */
const LINE_LIMIT = 1000
const SIGNS = { added: '+', removed: '-', context: ' ', heading: ' ' } as const

/** Shows a unified diff below a call: line numbers, signs and text, at most `cap` lines of it. */
export function printDiff(block: CallBlock, diff: string, { digits }: DiffStat, cap: Cap, theme: Theme): void {
  if (cap === 0) return
  let left = 0
  let shown = 0
  for (const line of diffLines(diff)) {
    if (cap !== 'all' && shown >= cap) left++
    else printDiffLine(block, line, digits, theme)
    shown++
  }
  if (left > 0) printLeft(block.row(`  ${''.padStart(digits)}  `, 'note'), left, theme)
}

function printDiffLine(block: CallBlock, { kind, number, text, parts = [{ text, changed: false }] }: DiffLine, digits: number, theme: Theme): void {
  const role = kind === 'heading' ? 'context' : kind
  const rows = block.row(`  ${number.padStart(digits)} ${SIGNS[kind]}`, role)
  const lines = new LineBuffer({ limit: LINE_LIMIT, past: 'count', colours: true }, (line) => printLine(rows, line, theme[role], theme))
  // What it holds of colours itself is dropped like any sequence: those of the buffer are ours.
  const sink: TextSink = { text: (run) => lines.text(run), tab: () => lines.tab(), carriageReturn: () => lines.carriageReturn() }
  const sanitiser = new Sanitiser()
  for (const part of parts) {
    if (parts.length > 1) lines.graphics(part.changed && (kind === 'added' || kind === 'removed') ? theme[`${kind}-word`] : '0')
    sanitiser.push(part.text, sink)
  }
  lines.text('\n')
}
