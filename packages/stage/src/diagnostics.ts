import { writeSync } from 'node:fs'

/** Writes one line, `name: message`, to stderr. The message may hold hostile text: whatever is not printable is escaped. */
export type Diagnose = (message: string) => void

export function diagnosticsOf(name: string): Diagnose {
  return (message) => writeStderr(`${name}: ${printable(message)}\n`)
}

/** Control characters, C1 and direction-changing ones among them, line ends too, as visible escapes: safe on a terminal, on one line. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\r') return '\\r'
    if (character === '\t') return '\\t'
    const code = character.charCodeAt(0)
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
  })
}

/** Writes all of `text` to stderr, now. Gives up where nobody reads it. */
export function writeStderr(text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      pause(1)
    }
  }
}

/** Sleeps without turning the event loop. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
