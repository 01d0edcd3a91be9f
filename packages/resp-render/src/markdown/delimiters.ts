const WHITE = /\s/
const PUNCTUATION = /[\p{P}\p{S}]/u

/** What is open: a run of `*`, `_` or `~`, or a bracket. */
interface Opener {
  readonly sign: string
  count: number
  /** Whether it could close something too: then the rule of three counts. */
  readonly both: boolean
  readonly length: number
}

/** The emphasis and the brackets that are open in a text: what opens and closes by the rules of CommonMark. */
export class Delimiters {
  #open: Opener[] = []

  get empty(): boolean {
    return this.#open.length === 0
  }

  get inBracket(): boolean {
    return this.#open.some(({ sign }) => sign === '[')
  }

  clear(): void {
    this.#open = []
  }

  bracket(): void {
    this.#open.push({ sign: '[', count: 0, both: false, length: 0 })
  }

  /** Inside of a link emphasis is its own affair. */
  closeBracket(link: boolean): void {
    const opener = this.#open.findLastIndex(({ sign }) => sign === '[')
    if (link) this.#open.length = opener
    else this.#open.splice(opener, 1)
  }

  /** A run of one sign, between two characters. Gives whether it closed something. */
  run(sign: string, length: number, before: string, after: string): boolean {
    const left = !WHITE.test(after) && (!PUNCTUATION.test(after) || WHITE.test(before) || PUNCTUATION.test(before))
    const right = !WHITE.test(before) && (!PUNCTUATION.test(before) || WHITE.test(after) || PUNCTUATION.test(after))
    const opens = sign === '_' ? left && (!right || PUNCTUATION.test(before)) : left
    const closes = sign === '_' ? right && (!left || PUNCTUATION.test(after)) : right
    const run = { sign, count: length, both: opens && closes, length }
    if (closes) this.#close(run)
    if (opens && run.count > 0) this.#open.push(run)
    return run.count < length
  }

  #close(closer: Opener): void {
    while (closer.count > 0) {
      const index = this.#open.findLastIndex((opener) => opener.sign === closer.sign && matches(opener, closer))
      const opener = this.#open[index]
      if (opener === undefined || this.#open.slice(index + 1).some(({ sign }) => sign === '[')) return
      const used = opener.sign === '~' ? opener.count : Math.min(opener.count, closer.count, 2)
      opener.count -= used
      closer.count -= used
      this.#open.length = opener.count > 0 ? index + 1 : index
    }
  }
}

/** CommonMark's rule of three, GFM's of the same number of tildes. */
function matches(opener: Opener, closer: Opener): boolean {
  if (opener.sign === '~') return opener.count === closer.count
  return !((opener.both || closer.both) && (opener.length + closer.length) % 3 === 0 && !(opener.length % 3 === 0 && closer.length % 3 === 0))
}
