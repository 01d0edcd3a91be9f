import type { Item } from './conversation.js'
import { itemsTokens } from './tokens.js'

/** What a compaction keeps as it is: so many whole turns at the end, or where even the last turn is too long, so many of its responses. */
export interface Kept {
  readonly turns: number
  readonly responses: number
}

/** Where what is kept begins in `items`. */
export function startOfKept(items: readonly Item[], { turns, responses }: Kept): number {
  if (turns > 0) return starts(items, ({ kind }) => kind === 'user').at(-turns) ?? 0
  if (responses > 0) return responseStarts(items).at(-responses) ?? 0
  return items.length
}

/**
 * What to keep of `items` in `tokens`: as many whole turns as fit, but never all of them; where not even the last one does that is `running`, as
 * many of its responses, and one at least.
 */
export function keptOf(items: readonly Item[], tokens: number, running: boolean): Kept {
  const turnStarts = starts(items, ({ kind }) => kind === 'user')
  const turns = fitting(items, turnStarts.slice(1), tokens)
  if (turns > 0 || !running) return { turns, responses: 0 }
  const all = responseStarts(items).filter((start) => start > (turnStarts.at(-1) ?? -1))
  // The first request of a turn: there is nothing but what the user said.
  if (all.length === 0) return { turns: 1, responses: 0 }
  return { turns: 0, responses: Math.max(1, fitting(items, all.slice(1), tokens)) }
}

/** How many of these starts, from the end, leave no more than `tokens` behind them. */
function fitting(items: readonly Item[], list: readonly number[], tokens: number): number {
  let room = tokens
  let end = items.length
  let fit = 0
  for (const start of list.toReversed()) {
    room -= itemsTokens(items.slice(start, end))
    if (room < 0) break
    fit++
    end = start
  }
  return fit
}

function starts(items: readonly Item[], begins: (item: Item) => boolean): number[] {
  return items.flatMap((item, index) => (begins(item) ? [index] : []))
}

/** Where responses begin: with what the model says first after another one has ended. */
function responseStarts(items: readonly Item[]): number[] {
  let speaking = false
  return items.flatMap(({ kind }, index) => {
    const says = kind === 'text' || kind === 'thinking' || kind === 'call'
    const begins = says && !speaking
    if (says) speaking = true
    else if (kind !== 'result' && kind !== 'notice') speaking = false
    return begins ? [index] : []
  })
}
