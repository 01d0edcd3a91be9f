import { fstatSync } from 'node:fs'
import { linesFromEnd } from './lines.js'
import { headsIn } from './record-head.js'

/**
 * Where the last `count` turns of an open log begin, found from its end; 0 where there are no more than these. A turn begins with USER_MESSAGE;
 * where a stream has none, behind STOP. HELLO alone is none.
 */
export function startOfTurns(descriptor: number, count: number): number {
  const { size } = fstatSync(descriptor)
  let turns = 0
  // Whether something was said behind the line that is looked at that no USER_MESSAGE has begun yet.
  let open = false
  let start = size
  if (count === 0) return size
  for (const line of linesFromEnd(descriptor, size)) {
    for (const { type } of headsIn(line).toReversed()) {
      if (type === 'USER_MESSAGE' || (type === 'STOP' && open)) {
        start = type === 'STOP' ? line.start + line.length + 1 : line.start
        open = false
        if (++turns === count) return start
      }
      if (type !== 'USER_MESSAGE' && type !== 'HELLO') open = true
    }
  }
  return 0
}
