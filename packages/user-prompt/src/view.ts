import { messageFields } from '@agentpipe/message'
import type { Output } from '@agentpipe/stage'

/** Of a longer text this much is shown on each side of the cursor, in UTF-16 units: a terminal has no room for more. */
const AROUND = 4000

/** What the prompt is to look like. */
export interface Picture {
  readonly text: string
  /** In UTF-16 units of text. */
  readonly cursor: number
  /** What stands in place of an empty text. */
  readonly hint: string
  /** Lines below it. */
  readonly note: string
}

/** What is done once, and not drawn again: text that stays above the prompt, the bell. */
export interface Once {
  readonly show?: string
  readonly bell?: boolean
}

/** Says what the prompt is to look like, by PROMPT frames. */
export class View {
  readonly #output: Output
  #count = 0
  #last = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** The terminal may have lost what was drawn: the next picture is sent though it be the same. */
  forget(): void {
    this.#last = ''
  }

  draw({ text, cursor, hint, note }: Picture, { show, bell }: Once = {}): void {
    const { shown, position } = part(text, cursor)
    const key = JSON.stringify([shown, position, hint, note])
    if (key === this.#last && show === undefined && !bell) return
    this.#last = key
    // The number makes each of them another frame: agent-loop tells by that what has been round already.
    const attributes = { hint: hint || undefined, note: note || undefined, show, bell: bell ? '1' : undefined, serial: String(++this.#count) }
    this.#output.send(messageFields('PROMPT', [shown, String(position)], attributes))
  }
}

/** What of a text is shown, and where the cursor is in that, in characters. */
function part(text: string, cursor: number): { readonly shown: string; readonly position: number } {
  const from = text.length <= 2 * AROUND ? 0 : whole(text, Math.max(0, cursor - AROUND))
  const to = text.length <= 2 * AROUND ? text.length : whole(text, Math.min(text.length, cursor + AROUND))
  const left = from > 0 ? '… ' : ''
  return { shown: left + text.slice(from, to) + (to < text.length ? ' …' : ''), position: [...(left + text.slice(from, cursor))].length }
}

/** Not between the halves of a character. */
function whole(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at
}
