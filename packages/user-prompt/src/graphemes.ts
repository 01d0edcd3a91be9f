/** Longest run that is looked at around a place, in UTF-16 units: no cluster that people type is as long. */
const REACH = 256

let segmenter: Intl.Segmenter | undefined

/** The lengths of the clusters of a text, in UTF-16 units. Loaded when the first text that is not ASCII is edited: it takes 20 ms. */
function lengths(text: string): number[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment.length)
}

function isAscii(text: string, at: number): boolean {
  return at < 0 || at >= text.length || text.charCodeAt(at) < 0x80
}

/** Where the cluster begins that ends at `at`. */
export function before(text: string, at: number): number {
  if (at <= 1) return 0
  if (isAscii(text, at - 1) && isAscii(text, at - 2)) return at - 1
  // From an ASCII character on, which begins a cluster of its own: flags are told apart by counting from there.
  let from = at - 1
  while (from > 0 && at - from < REACH && !isAscii(text, from)) from--
  return at - (lengths(text.slice(from, at)).at(-1) as number)
}

/** Where the cluster ends that begins at `at`. */
export function after(text: string, at: number): number {
  if (at + 1 >= text.length) return text.length
  if (isAscii(text, at) && isAscii(text, at + 1)) return at + 1
  return at + (lengths(text.slice(at, at + REACH))[0] as number)
}
