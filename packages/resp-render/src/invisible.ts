import stripAnsi from 'strip-ansi'
import { wholeCharacters } from './cells.js'

/**
 * Characters that are not seen, or that change the direction of what is: zero-width spaces, marks of direction, bidi embeddings,
 * overrides and isolates, separators that are no line ends, fillers, tags. The joiners U+200C and U+200D are not among
 * them: emoji and whole scripts need them, and they show.
 */
export const INVISIBLE =
  '\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb'
/** The tag characters, U+E0000 to U+E007F, in UTF-16. */
export const TAG = '\\udb40[\\udc00-\\udc7f]'

/** An invisible character as an escape that can be read: `\u202e`. */
export function visible(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

const CONTROLS = '\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f'
const NOT_SEEN = new RegExp(`${TAG}|[${INVISIBLE}]`, 'g')
const DROPPED = new RegExp(`[${CONTROLS}]`, 'g')
/** Whatever is not seen as itself: controls, marks of format, what fonts may leave out, and every space but the usual one. Braille has a blank too. */
const ANYTHING_ODD = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** How much of a field is looked at for a label, in bytes. */
const LABEL_BYTES = 4096

/**
 * A field of any size as one line of a label, `limit` characters at most: escape sequences and controls are dropped, what is
 * invisible is shown as an escape, and whatever is left out is marked.
 */
export function oneLine(field: Buffer | string | undefined, limit = 500): string {
  const bytes = typeof field === 'string' ? Buffer.from(field) : (field ?? Buffer.alloc(0))
  const text = bytes.toString('utf8', 0, LABEL_BYTES)
  const [first = '', ...others] = cleaned(text).trim().split('\n')
  const clipped = first.length > limit ? first.slice(0, wholeCharacters(first, limit)) : first
  const more = others.length > 0 ? lineCount(bytes) - 1 : 0
  if (more > 0) return `${clipped.trimEnd()} … ${plural(more, 'more line')}`
  return clipped.length < first.length || bytes.length > LABEL_BYTES ? `${clipped}…` : clipped
}

function cleaned(text: string): string {
  return stripAnsi(text).replace(/\r\n?/g, '\n').replace(/\t/g, ' ').replace(DROPPED, '').replace(NOT_SEEN, visible)
}

/** Lines in `bytes`, an empty last one not counted. */
function lineCount(bytes: Buffer): number {
  let count = 1
  for (let at = bytes.indexOf(10); at >= 0 && at < bytes.length - 1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

/** `1 line`, `2 lines`, `12,345 lines`. */
export function plural(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`
}

/** A number with commas, without Intl, which would cost 10 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Every character that is not seen as itself, controls and odd spaces too, as an escape, and spaces at the end of a line. LF stays, and TAB as \t. */
export function allVisible(text: string): string {
  return text
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t')
    .replace(ANYTHING_ODD, (character) => {
      if (character === '\n') return character
      const code = character.charCodeAt(0)
      return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : visible(character)
    })
    .replace(/ +$/gm, (spaces) => '\\x20'.repeat(spaces.length))
}
