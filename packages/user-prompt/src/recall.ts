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
  #back = 1

  constructor(history: History, before: string) {
    this.#history = history
    this.before = before
  }

  get query(): string {
    return this.#query
  }

  /** What was found, or undefined. */
  get found(): string | undefined {
    const { entries } = this.#history
    for (; this.#query !== '' && this.#back <= entries.length; this.#back++) {
      const entry = entries.at(-this.#back) as string
      if (entry.toLowerCase().includes(this.#query.toLowerCase())) return entry
    }
    return undefined
  }

  /** Takes a key. False for one that ends the search. */
  key({ name, text }: { readonly name: string; readonly text: string }): boolean {
    if (name === 'ctrl-r') {
      if (this.found !== undefined) this.#back++
    } else if (name === 'backspace' || name === 'ctrl-h') {
      this.#query = [...this.#query].slice(0, -1).join('')
      this.#back = 1
    } else if (text !== '') this.#query += text
    else return false
    return true
  }
}
