import { fstatSync } from 'node:fs'
import { recordsIn } from './damaged-line.js'
import { linesFromEnd } from './lines.js'
import type { EventRecord } from './record.js'
import { headsIn } from './record-head.js'

/** A log up to this size is read whole: nothing is gained by looking for less. */
const SHORT_BYTES = 16 * 1024 * 1024
/** Responses that are read beyond those that a summary kept: not every one has a USAGE. */
const MORE_RESPONSES = 4
/** Usage of other requests than those of the conversation: it closes no response. */
const ASIDE: ReadonlySet<unknown> = new Set(['compact', 'sub_agent'])

/** What a summary left as it was, still to be found. */
interface Kept {
  turns: number
  responses: number
}

/**
 * Where in an open log that begins which the conversation as it is now is made of, found from its end: what the last summary (CONTEXT_UPDATE) stands
 * for is not read. 0 for the whole log: a short one, or one in which nothing was summarised or forgotten.
 */
export function startOfConversation(descriptor: number): number {
  const { size } = fstatSync(descriptor)
  if (size <= SHORT_BYTES) return 0
  let kept: Kept | undefined
  for (const line of linesFromEnd(descriptor, size)) {
    for (const { type } of headsIn(line).toReversed()) {
      if (type === 'USER_MESSAGE' && kept !== undefined && kept.turns > 0 && --kept.turns === 0) return line.start
      if (type !== 'CONTEXT_UPDATE' && (type !== 'USAGE' || kept === undefined || kept.responses === 0)) continue
      for (const record of recordsIn(line.bytes).records) {
        if (record.type === 'USAGE' && kept !== undefined && !ASIDE.has(record.members.kind) && --kept.responses === 0) return line.start
        if (record.type !== 'CONTEXT_UPDATE') continue
        if (record.members.kind === 'clear') return line.start
        kept ??= keptBy(record)
        if (kept?.turns === 0 && kept.responses === 0) return line.start
      }
    }
  }
  return 0
}

/** Undefined where there is no summary: such an update changes nothing. */
function keptBy({ members: { summary, kept, kept_responses: responses } }: EventRecord): Kept | undefined {
  if (typeof summary !== 'string') return undefined
  if (number(kept) > 0) return { turns: number(kept), responses: 0 }
  return { turns: 0, responses: number(responses) > 0 ? number(responses) + MORE_RESPONSES : 0 }
}

function number(value: unknown): number {
  return Number(value ?? 0) || 0
}
