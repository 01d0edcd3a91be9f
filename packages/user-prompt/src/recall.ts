import type { History } from './history.js'

/** Goes through what was typed before; the draft that was left for that is at its end. */
export class Recall {
  readonly #history: History
  /** Entries back from the end; 0: the draft. */
  #back = 0
  #draft = ''

  constructor(history: History) {
    this.#history = history
  }

  /** The entry before the one that is shown, `shown` being what stands in the prompt; undefined where there is none. */
  older(shown: string): string | undefined {
    if (this.#back >= this.#history.entries.length) return undefined
    if (this.#back === 0) this.#draft = shown
    this.#back++
    return this.#history.entries.at(-this.#back)
  }

  newer(): string | undefined {
    if (this.#back === 0) return undefined
    this.#back--
    return this.#back === 0 ? this.#draft : this.#history.entries.at(-this.#back)
  }

  /** What is typed now is a new draft. */
  reset(): void {
    this.#back = 0
  }
}

/** Ctrl-R: looks for what holds a text, from the newest on. */
export class Search {
  readonly #history: History
  /** What stood in the prompt before. */
  readonly before: string
  #query = ''
  /** Where to look from, entries back from the end. */
  #from = 1
  #found: string | undefined
  #exhausted = false

  constructor(history: History, before: string) {
    this.#history = history
    this.before = before
  }

  get query(): string {
    return this.#query
  }

  /** What was found last, or undefined. */
  get found(): string | undefined {
    return this.#found
  }

  /** Whether there is nothing that is older, or nothing at all. */
  get exhausted(): boolean {
    return this.#exhausted
  }

  /** Takes a key. False for one that ends the search. */
  key({ name, text }: { readonly name: string; readonly text: string }): boolean {
    if (name === 'ctrl-r') {
      if (this.#query !== '') this.#look()
    } else if (name === 'backspace' || name === 'ctrl-h') this.#ask([...this.#query].slice(0, -1).join(''))
    else if (text !== '') this.#ask(this.#query + text)
    else return false
    return true
  }

  #ask(query: string): void {
    this.#query = query
    this.#from = 1
    this.#found = undefined
    this.#exhausted = false
    if (query !== '') this.#look()
  }

  /** Goes on to what is older and another text; what was found stays where there is none. */
  #look(): void {
    const { entries } = this.#history
    const query = this.#query.toLowerCase()
    for (let back = this.#from; back <= entries.length; back++) {
      const entry = entries.at(-back) as string
      if (entry === this.#found || !entry.toLowerCase().includes(query)) continue
      this.#found = entry
      this.#from = back + 1
      return
    }
    this.#exhausted = true
  }
}
