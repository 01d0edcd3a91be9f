import type { Item } from './conversation.js'
import { fitItems, shortenItems } from './shorten.js'
import { contextTokens, itemsTokens } from './tokens.js'

/** What a single result or message may take of the window: more of it would leave too little for the work. */
const ITEM_SHARE = 1 / 4
/** What is kept as it is in a compaction. */
const KEPT_SHARE = 1 / 5
/** What a summary may be. */
const SUMMARY_SHARE = 1 / 10
/** What is tried next when a server has said that a request is too long. */
const TIGHTENED = 0.7

export interface WindowOptions {
  /** Who answers. */
  readonly model: string
  /** Tokens of a request at most. */
  readonly limit: number
  /** The share of it, in percent, at which old turns are summarised; 0 for never. */
  readonly compactAt: number
  /** About how many tokens stand in front of the conversation: the system prompt and the tools. */
  readonly front: () => number
}

/** How much of a conversation fits into a request to a model. */
export class ContextWindow {
  readonly #options: WindowOptions
  #limit: number

  constructor(options: WindowOptions) {
    this.#options = options
    this.#limit = options.limit
  }

  /** Tokens that are kept as they are in a compaction. */
  get kept(): number {
    return this.#limit * KEPT_SHARE
  }

  /** Whether leaving out these items is worth the summary of them. */
  isMuch(items: readonly Item[]): boolean {
    return itemsTokens(items) > this.#limit * SUMMARY_SHARE
  }

  /** About how many tokens the next request would be. */
  tokens(items: readonly Item[]): number {
    return this.#count(this.#capped(items))
  }

  /** Whether old turns are to be summarised before the next request. */
  isFull(items: readonly Item[]): boolean {
    const { compactAt } = this.#options
    return compactAt > 0 && this.tokens(items) > (this.#limit * compactAt) / 100
  }

  /**
   * `items` as they fit into a request: a text that is too long for itself is shortened, and where all is too much, the longest ones are.
   * The very array that was given where all fits.
   */
  fitted(items: readonly Item[]): readonly Item[] {
    const capped = this.#capped(items)
    const tokens = this.#count(capped)
    if (tokens <= this.#limit) return capped
    // What servers count and what we guess differ: the guesses are made to fit in proportion.
    const guessed = itemsTokens(capped)
    const excess = (tokens - this.#limit) * Math.max(1, guessed / tokens)
    return fitItems(capped, Math.max(guessed - excess, this.#limit / 10))
  }

  /**
   * A server refused as too long what these items made: the window is smaller than we thought. Gives whether they can be made to fit into less; where they
   * can't, nothing changes.
   */
  tighten(items: readonly Item[]): boolean {
    const limit = this.#limit
    const sent = itemsTokens(this.fitted(items))
    this.#limit = Math.floor(Math.min(limit, sent + this.#options.front()) * TIGHTENED)
    if (itemsTokens(this.fitted(items)) < sent) return true
    this.#limit = limit
    return false
  }

  #count(capped: readonly Item[]): number {
    return contextTokens(capped, this.#options.model, this.#options.front)
  }

  #capped(items: readonly Item[]): readonly Item[] {
    return shortenItems(items, this.#limit * ITEM_SHARE)
  }
}
