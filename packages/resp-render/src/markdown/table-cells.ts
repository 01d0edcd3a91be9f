export type Alignment = 'left' | 'right' | 'centre'

/** The cells of a row; `\|` is a bar in a cell, in code too. */
export function cellsOfRow(line: string): string[] {
  const row = line.trim().replace(/^\|/, '')
  if (!row.includes('\\')) return plainCells(row)
  const cells: string[] = []
  let cell = ''
  for (let at = 0; at < row.length; at++) {
    const character = row[at] as string
    if (character === '\\' && row[at + 1] === '|') cell += row[++at]
    else if (character === '|') {
      cells.push(cell.trim())
      cell = ''
    } else if (character === '\\' && at + 1 < row.length) cell += character + row[++at]
    else cell += character
  }
  if (cell.trim() !== '' || cells.length === 0) cells.push(cell.trim())
  return cells
}

function plainCells(row: string): string[] {
  const cells = row.split('|').map((cell) => cell.trim())
  if (cells.length > 1 && cells.at(-1) === '') cells.pop()
  return cells
}

/** How the columns are aligned, by the line below their heads; undefined where it is no such line. */
export function alignmentsOf(line: string): Alignment[] | undefined {
  if (!/^ {0,3}[|:-][-:| \t]*$/.test(line) || !line.includes('-')) return undefined
  const cells = cellsOfRow(line)
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined
  return cells.map((cell) => (cell.endsWith(':') ? (cell.startsWith(':') ? 'centre' : 'right') : 'left'))
}
