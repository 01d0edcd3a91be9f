/** Past this many bytes a diff takes too long, and nobody reads it. */
const LARGEST_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 300

/** What was changed in a file. */
export interface Change {
  /** A unified diff; undefined where it would be too large. */
  readonly diff: string | undefined
  /** `+2 -1`, or '' where there is no diff. */
  readonly lines: string
}

/** The change from `before` (undefined: there was no such file) to `after` of the file called `name`. `limit`: bytes of the longest diff. */
export async function changeOf(name: string, before: Buffer | undefined, after: Buffer, limit: number): Promise<Change> {
  const none = { diff: undefined, lines: '' }
  if ((before?.length ?? 0) + after.length > LARGEST_BYTES) return none
  const { structuredPatch, formatPatch, FILE_HEADERS_ONLY } = await import('diff')
  const from = before === undefined ? '/dev/null' : `a/${name}`
  const patch = structuredPatch(from, `b/${name}`, before?.toString() ?? '', after.toString(), '', '', { context: 3, timeout: TIMEOUT_MS })
  if (patch === undefined) return none
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  const diff = patch.hunks.length === 0 ? undefined : formatPatch(patch, FILE_HEADERS_ONLY)
  const fits = diff !== undefined && Buffer.byteLength(diff) <= limit
  return { diff: fits ? diff : undefined, lines: `+${count('+')} -${count('-')}` }
}
