import { createRequire } from 'node:module'

// Read when the first line that was changed comes.
const require = createRequire(import.meta.url)

/** Part of a line, and whether it is one that the other line has not. */
export interface Part {
  readonly text: string
  readonly changed: boolean
}

/** Longer lines are not compared: what a line costs is bounded. */
const LONGEST_LINE = 500
/** Lines that have less than this share in common are others, not changed ones. */
const LEAST_COMMON = 0.4

/** What two lines, one in place of the other, differ in: the parts of each. Undefined where they have little in common. */
export function changedWords(before: string, after: string): { readonly before: readonly Part[]; readonly after: readonly Part[] } | undefined {
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE || before.trim() === '' || after.trim() === '') return undefined
  const { diffWordsWithSpace } = require('diff') as typeof import('diff')
  const changes = diffWordsWithSpace(before, after)
  const common = changes.filter(({ added, removed }) => !added && !removed).reduce((length, { value }) => length + value.trim().length, 0)
  if (common < LEAST_COMMON * Math.max(before.trim().length, after.trim().length)) return undefined
  const parts = (other: 'added' | 'removed') =>
    changes.filter((change) => !change[other]).map(({ value, added, removed }) => ({ text: value, changed: added || removed }))
  return { before: parts('added'), after: parts('removed') }
}
