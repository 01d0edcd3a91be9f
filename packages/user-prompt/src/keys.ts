import { emitKeypressEvents, type Key } from 'node:readline'
import { PassThrough } from 'node:stream'

/** A key, or text that came by a paste. */
export type Press = { readonly kind: 'key'; readonly name: string; readonly text: string } | { readonly kind: 'paste'; readonly text: string }

/** After an escape character alone, this long until it is the key and not the beginning of another one. */
const ESCAPE_MS = 60

/** How terminals send Shift-Enter, where they tell it from Enter: the forms of kitty and of xterm. */
const SHIFT_ENTER: ReadonlySet<string | undefined> = new Set(['\x1b[13;2u', '\x1b[27;2;13~'])

/**
 * Bytes of a terminal in, presses out. node:readline knows the sequences; what stands between the marks of a bracketed paste is one text,
 * whatever keys are in it. A key's `name` is readline's with `ctrl-`, `meta-` or `shift-` in front; `text` is what it would insert, or empty.
 */
export class Keys {
  readonly #stream = new PassThrough()
  #pasted: string[] | undefined

  constructor(press: (press: Press) => void) {
    // The second argument is an Interface in its types, but only this is looked at.
    emitKeypressEvents(this.#stream, { escapeCodeTimeout: ESCAPE_MS } as never)
    this.#stream.on('keypress', (text: string | undefined, key: Key) => {
      const whole = this.#paste(text, key)
      if (whole !== undefined) press(whole)
    })
  }

  push(bytes: Buffer): void {
    this.#stream.write(bytes)
  }

  #paste(text: string | undefined, key: Key): Press | undefined {
    if (key.name === 'paste-start') {
      this.#pasted ??= []
      return undefined
    }
    if (this.#pasted === undefined) return { kind: 'key', name: nameOf(key), text: inserted(text, key) }
    if (key.name !== 'paste-end') {
      this.#pasted.push(key.sequence ?? text ?? '')
      return undefined
    }
    const whole = this.#pasted.join('').replace(/\r\n?/g, '\n')
    this.#pasted = undefined
    return { kind: 'paste', text: whole }
  }
}

function nameOf({ name, ctrl, meta, shift, sequence }: Key): string {
  if (SHIFT_ENTER.has(sequence)) return 'meta-return'
  if (name === undefined || name === 'escape') return name ?? ''
  return `${ctrl ? 'ctrl-' : ''}${meta ? 'meta-' : ''}${shift && name.length > 1 ? 'shift-' : ''}${name}`
}

/** No key that controls something inserts anything, whatever else it is. */
function inserted(text: string | undefined, { ctrl, meta }: Key): string {
  return text === undefined || ctrl || meta || /\p{Cc}/u.test(text) ? '' : text
}
