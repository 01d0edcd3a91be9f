import { writeSync } from 'node:fs'

/** Writes one line, `name: message`, to stderr. The message may hold hostile text: whatever is not printable is escaped. */
export type Diagnose = (message: string) => void

export function diagnosticsOf(name: string): Diagnose {
  return (message) => writeStderr(`${name}: ${printable(message)}\n`)
}

/** What shows nothing or acts on a terminal (control, format and direction characters, line ends too) as visible escapes: safe, and on one line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\r') return '\\r'
    if (character === '\t') return '\\t'
    const code = character.codePointAt(0) as number
    const hex = code.toString(16)
    return code < 0x100 ? `\\x${hex.padStart(2, '0')}` : code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
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
