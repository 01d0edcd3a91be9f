import type { Item } from './conversation.js'
import { bytesOf, itemsTokens, itemTokens } from './tokens.js'

/** Nothing is made shorter than this, in tokens: it could say nothing any more. */
const SHORTEST = 100
/** Of what is kept of a text, the part that is its beginning. */
const HEAD = 0.6
/** What saying how much is left out takes, in tokens. */
const MARK = 50

/**
 * `items` with each text of more than `cap` tokens shortened in its middle: results, what the user and sub-agents said, what the model said and summaries. Calls and
 * thinking stay as they are: servers want them back unchanged. The very array that was given where nothing is too long.
 */
export function shortenItems(items: readonly Item[], cap: number): readonly Item[] {
  const limit = Math.max(SHORTEST, cap)
  return items.some((item) => isText(item) && itemTokens(item) > limit) ? items.map((item) => shortenItem(item, limit)) : items
}

/**
 * `items` in `budget` tokens: the longest texts are made shorter, as few as possible; where that is not enough, the newest items alone are left, and what the user said last.
 */
export function fitItems(items: readonly Item[], budget: number): readonly Item[] {
  const shortened = shortenItems(items, capFor(items, budget))
  let room = budget
  const start = shortened.findLastIndex((item) => {
    room -= itemTokens(item)
    return room < 0
  })
  if (start < 0) return shortened
  const prompt = shortened.findLastIndex(({ kind }) => kind === 'user')
  const newest = shortened.slice(start + 1)
  return prompt < 0 || prompt > start ? newest : [shortened[prompt] as Item, ...newest]
}

/** To how many tokens the longest texts have to be shortened for all to be `budget`. */
function capFor(items: readonly Item[], budget: number): number {
  const sizes = items
    .filter(isText)
    .map(itemTokens)
    .sort((one, other) => one - other)
  let room = budget - itemsTokens(items.filter((item) => !isText(item)))
  for (const [at, size] of sizes.entries()) {
    const share = room / (sizes.length - at)
    if (size > share) return Math.floor(share)
    room -= size
  }
  return Number.POSITIVE_INFINITY
}

function isText(item: Item): boolean {
  return item.kind === 'user' || item.kind === 'result' || item.kind === 'notice' || item.kind === 'text' || item.kind === 'summary'
}

function shortenItem(item: Item, cap: number): Item {
  if (!isText(item) || itemTokens(item) <= cap) return item
  if (item.kind === 'result') return { ...item, output: shortenText(item.output, cap, item.fullOutput) }
  return 'text' in item ? { ...item, text: shortenText(item.text, cap) } : item
}

/** Beginning and end of `text`, together about `tokens` with what stands between them: how much is left out; `whole` is the path of the whole of it. */
export function shortenText(text: string, tokens: number, whole?: string): string {
  // Characters of other scripts are up to 3 bytes each: as many more are left out.
  const length = Math.floor((text.length * bytesOf(tokens - MARK)) / Math.max(1, Buffer.byteLength(text)))
  if (length >= text.length) return text
  const head = text.slice(0, boundary(text, Math.floor(length * HEAD)))
  const tail = text.slice(boundary(text, text.length - Math.floor(length * (1 - HEAD))))
  const left = text.length - head.length - tail.length
  const where = whole === undefined ? '' : `; the whole of it is in ${whole}`
  return `${head}\n[... ${left} characters are left out here, which do not fit into the model's context window${where} ...]\n${tail}`
}

/** `at`, or the place before it where that is in the middle of a character. */
function boundary(text: string, at: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) ? at - 1 : at
}
