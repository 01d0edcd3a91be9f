import { command, eachFrame } from '@agentpipe/stage'

interface Count {
  readonly type: string
  frames: number
  bytes: number
}

/** Memory has a bound, whatever types a stream makes up: past these, frames are counted under `other`. */
const MOST_TYPES = 1000
const LONGEST_TYPE = 64
const OTHER = 'other'

/** `resp stat`: how many frames of each type there are, and their bytes; largest first. */
export const stat = command({
  purpose: 'count frames and bytes of each type',
  options: { json: { type: 'flag', about: 'print one JSON object in place of a table' } },
  examples: ['resp write TEXT hi | resp stat', 'resp write TEXT hi | resp stat --json | jq .bytes'],
  act(context) {
    const counts = new Map<string, Count>()
    try {
      eachFrame(context, 0, (frame) => add(counts, frame.type, frame.end - frame.start))
    } finally {
      // Where the input is malformed, of what stands before.
      const types = [...counts.values()].sort((a, b) => b.bytes - a.bytes || (a.type < b.type ? -1 : 1))
      context.output.write(context.options.json ? asJson(types) : asTable(types))
      context.output.flush()
    }
  },
})

function add(counts: Map<string, Count>, type: string, bytes: number): void {
  const key = counts.has(type) || (counts.size < MOST_TYPES && type.length <= LONGEST_TYPE) ? type : OTHER
  let count = counts.get(key)
  if (count === undefined) {
    count = { type: key, frames: 0, bytes: 0 }
    counts.set(key, count)
  }
  count.frames++
  count.bytes += bytes
}

function total(types: readonly Count[]): Count {
  const sum = (of: (count: Count) => number) => types.reduce((all, count) => all + of(count), 0)
  return { type: 'total', frames: sum(({ frames }) => frames), bytes: sum(({ bytes }) => bytes) }
}

function asJson(types: readonly Count[]): string {
  const { frames, bytes } = total(types)
  return `${JSON.stringify({ frames, bytes, types })}\n`
}

function asTable(types: readonly Count[]): string {
  const row = (frames: unknown, bytes: unknown, type: string) => `${String(frames).padStart(8)} ${String(bytes).padStart(12)}  ${type}\n`
  const rows = [...types, total(types)].map(({ frames, bytes, type }) => row(frames, bytes, type))
  return row('frames', 'bytes', 'type') + rows.join('')
}
