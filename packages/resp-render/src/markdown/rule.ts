import type { Rows } from '../rows.js'

/** What is drawn below headings, by their level. */
export const UNDERLINES = { 1: '═', 2: '─' } as const

/** Draws a row of a sign, of so many cells. */
export function drawLine(rows: Rows, sign: string, cells: number, style: string): void {
  // A marker that there was no room for in the margin.
  if (rows.column > 0) rows.newline()
  const length = Math.min(cells, rows.width)
  rows.put(sign.repeat(length), length, style)
  rows.end()
}
