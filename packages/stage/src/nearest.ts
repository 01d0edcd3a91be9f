/** The name that somebody may have meant by `given`: the one that fewest edits make of it, if those are few for its length. */
export function nearest(given: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(given.length / 3)) + 1
  for (const name of names) {
    const edits = Math.abs(name.length - given.length) < least ? editsBetween(given, name) : least
    if (edits < least) {
      best = name
      least = edits
    }
  }
  return best
}

/** How many characters have to be put in, taken out or replaced, or neighbours swapped, to make one of the other. */
function editsBetween(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let edits = Math.min((last[column] as number) + 1, (line[column - 1] as number) + 1, (last[column - 1] as number) + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) edits = Math.min(edits, (before[column - 2] as number) + 1)
      line.push(edits)
    }
    before = last
    last = line
  }
  return last[other.length] as number
}
