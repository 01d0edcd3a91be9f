import type { ModelEvent } from '../provider.js'

type Said = Extract<ModelEvent, { kind: 'text' | 'thinking' }>

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Tells what a model thinks from what it says, where a server leaves both in the text: `<think>...</think>` at the very beginning. Everywhere else
 * the tags are text.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'behind' | 'text' = 'start'
  /** What may be a part of a tag. */
  #held = ''

  take(text: string): Said[] {
    if (this.#state === 'text') return text === '' ? [] : [{ kind: 'text', text }]
    const all = this.#held + text
    this.#held = ''
    if (this.#state === 'start') return this.#start(all)
    return this.#state === 'thinking' ? this.#thinking(all) : this.#behind(all)
  }

  /** What is left when nothing more comes. */
  end(): Said[] {
    const held = this.#held
    this.#held = ''
    return held === '' ? [] : [{ kind: this.#state === 'thinking' ? 'thinking' : 'text', text: held }]
  }

  #start(text: string): Said[] {
    const rest = text.trimStart()
    if (rest.startsWith(OPEN)) {
      this.#state = 'thinking'
      return this.#thinking(rest.slice(OPEN.length))
    }
    if (OPEN.startsWith(rest)) {
      this.#held = text
      return []
    }
    this.#state = 'text'
    return [{ kind: 'text', text }]
  }

  #thinking(text: string): Said[] {
    const end = text.indexOf(CLOSE)
    if (end < 0) {
      const length = text.length - tagBegun(text)
      this.#held = text.slice(length)
      return thought(text.slice(0, length))
    }
    this.#state = 'behind'
    return [...thought(text.slice(0, end)), ...this.#behind(text.slice(end + CLOSE.length))]
  }

  /** White space between the tag and the text is neither's. */
  #behind(text: string): Said[] {
    const rest = text.trimStart()
    if (rest === '') return []
    this.#state = 'text'
    return [{ kind: 'text', text: rest }]
  }
}

function thought(text: string): Said[] {
  return text === '' ? [] : [{ kind: 'thinking', text }]
}

/** How many characters at the end of `text` may be the beginning of the closing tag. */
function tagBegun(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) if (text.endsWith(CLOSE.slice(0, length))) return length
  return 0
}
