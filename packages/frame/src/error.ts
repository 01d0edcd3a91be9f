/** How many bytes of the offending input an error shows. */
const EXCERPT_BYTES = 16

/** Input that is not frames. `message` says what was expected, where, and what was found. */
export class FrameError extends Error {
  override readonly name = 'FrameError'

  constructor(
    /** Byte offset in the stream, counted from 0, of the first byte that is wrong. */
    readonly offset: number,
    /** What the format asks for at that place. */
    readonly expected: string,
    /** What stands there, escaped: printable ASCII only. */
    readonly found: string,
    message = `expected ${expected} at byte ${offset}, found ${found}`,
  ) {
    super(message)
  }
}

/** Up to 16 bytes of `bytes` from `start`, in quotes, everything but printable ASCII escaped; never longer than the input. */
export function excerpt(bytes: Uint8Array, start: number): string {
  let text = ''
  for (const byte of bytes.subarray(start, start + EXCERPT_BYTES)) text += escapeByte(byte)
  const more = bytes.length - start > EXCERPT_BYTES ? '...' : ''
  return `"${text}"${more}`
}

function escapeByte(byte: number): string {
  if (byte === 0x0d) return '\\r'
  if (byte === 0x0a) return '\\n'
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  if (byte >= 0x20 && byte < 0x7f) return String.fromCharCode(byte)
  return `\\x${byte.toString(16).padStart(2, '0')}`
}
