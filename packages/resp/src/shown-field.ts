import { createHash } from 'node:crypto'
import { printable } from '@agentpipe/stage'

/** So many bytes of a long field are shown. */
const SHOWN_BYTES = 400
const KEY_BYTES = 64

/**
 * A field as `[LENGTH] TEXT`, the length in bytes. All that is not printable is escaped, and each `\` doubled, so that two
 * fields that differ never look the same; of a long one that is cut, a digest stands for the rest.
 */
export function shownValue(value: Buffer, full: boolean): string {
  if (full || value.length <= SHOWN_BYTES) return `[${value.length}]${value.length === 0 ? '' : ` ${shown(value)}`}`
  const head = cut(value, SHOWN_BYTES)
  const digest = createHash('sha256').update(value).digest('hex').slice(0, 12)
  return `[${value.length}] ${shown(head)} ... ${value.length - head.length} more bytes, sha256 ${digest}`
}

/** A key, or a type. */
export function shownKey(key: Buffer): string {
  return key.length <= KEY_BYTES ? shown(key) : `${shown(cut(key, KEY_BYTES))}...`
}

/** The first bytes of a field, not ending inside a character. */
function cut(value: Buffer, length: number): Buffer {
  let end = length
  while (end > length - 3 && ((value[end] as number) & 0xc0) === 0x80) end--
  return value.subarray(0, end)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function shown(value: Buffer): string {
  try {
    return printable(utf8.decode(value).replaceAll('\\', '\\\\'))
  } catch {
    return value.reduce((text, byte) => text + (byte === 0x5c ? '\\\\' : byte < 0x7f ? printable(String.fromCharCode(byte)) : `\\x${byte.toString(16)}`), '')
  }
}
