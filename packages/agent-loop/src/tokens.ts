import type { Item } from './conversation.js'

/** English and code have 3 to 4 bytes in a token, other scripts fewer characters but more bytes in each. */
const BYTES_PER_TOKEN = 3.5

/** What model servers count for an image of the size that they take unscaled. */
const IMAGE_TOKENS = 1600

/** What stands around each part of a request. */
const PART_TOKENS = 8

/** About how many tokens `text` is. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** About how many bytes of text `tokens` are. */
export function bytesOf(tokens: number): number {
  return Math.floor(tokens * BYTES_PER_TOKEN)
}

/** About how many tokens an item of a conversation is in a request. */
export function itemTokens(item: Item): number {
  switch (item.kind) {
    case 'user':
      return PART_TOKENS + textTokens(item.text) + (item.image === undefined ? 0 : IMAGE_TOKENS)
    case 'result':
      return PART_TOKENS + textTokens(item.output) + (item.image === undefined ? 0 : IMAGE_TOKENS)
    case 'call':
      return PART_TOKENS + textTokens(item.name) + textTokens(item.input)
    case 'thinking':
      return PART_TOKENS + textTokens(item.text) + textTokens(item.signature ?? '') + textTokens(item.opaque ?? '')
    case 'text':
    case 'notice':
    case 'summary':
      return PART_TOKENS + textTokens(item.text)
    default:
      return 0
  }
}

/** About how many tokens these items are. */
export function itemsTokens(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + itemTokens(item), 0)
}

/**
 * About how many tokens the next request is: as `model`'s server counted the last one, with what has come since; where it has not counted, what we guess,
 * with the tokens of what stands in `front` of the conversation.
 */
export function contextTokens(items: readonly Item[], model: string, front: () => number): number {
  const counted = items.findLastIndex((item) => item.kind === 'response' && item.tokens !== undefined && item.model === model)
  const known = items[counted]
  return (known?.kind === 'response' && known.tokens !== undefined ? known.tokens : front()) + itemsTokens(items.slice(counted + 1))
}
