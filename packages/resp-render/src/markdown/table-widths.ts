/** A narrower column can't be read. */
const NARROWEST = 4
/** A column is not made narrower than its longest word, if that is no longer than this. */
const LONGEST_WHOLE_WORD = 16

export interface ColumnSize {
  /** Cells of its widest line. */
  readonly natural: number
  /** Cells of its longest word; only asked for where there is too little room. */
  readonly word: () => number
}

/** The widths of columns that have `room` cells together; undefined where there is too little. The widest give first. */
export function columnWidths(columns: readonly ColumnSize[], room: number): number[] | undefined {
  const natural = columns.map(({ natural }) => natural)
  if (sum(natural) <= room) return natural
  const words = columns.map(({ natural, word }) => Math.min(natural, word(), LONGEST_WHOLE_WORD))
  const least = columns.map(({ natural }) => Math.min(natural, NARROWEST))
  const floors = sum(words) <= room ? words : least
  if (sum(floors) > room) return undefined
  const limited = (limit: number) => natural.map((width, index) => Math.max(floors[index] as number, Math.min(width, limit)))
  let [low, high] = [0, Math.max(...natural)]
  while (low < high) {
    const limit = Math.ceil((low + high) / 2)
    if (sum(limited(limit)) <= room) low = limit
    else high = limit - 1
  }
  const widths = limited(low)
  // What is left over goes to those that would take it.
  for (let left = room - sum(widths), index = 0; left > 0 && index < widths.length; index++) {
    if ((widths[index] as number) < (natural[index] as number)) {
      widths[index] = (widths[index] as number) + 1
      left--
    }
  }
  return widths
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
