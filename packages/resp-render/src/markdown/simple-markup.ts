/** Markup that is longer is left to the hold, which does not wait for the end of what is too long: how a text came must make no difference. */
const LONGEST_MARKUP = 500

/** A piece of text with the markup that it is in: no other is inside of it. */
export type Piece = { readonly type: 'text' | 'code' | 'strong' | 'emphasis'; readonly content: string } | Link

interface Link {
  readonly type: 'link'
  readonly content: string
  readonly href: string
}

const PLAIN = '[^*_~`[\\]<&\\\\\\n]'
/** Emphasis that begins and ends in a letter is emphasis whatever stands around it. */
const EMPHASISED = `([A-Za-z0-9](?:${PLAIN}*[A-Za-z0-9])?)`
const PIECE = new RegExp(
  [
    // A line end with no blank behind it, and an underscore inside of a word, are text.
    `((?:${PLAIN}|\\n(?![ \\t])|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))+)`,
    '`([^`\\s](?:[^`\\n]*[^`\\s])?)`(?!`)',
    `\\*\\*${EMPHASISED}\\*\\*(?!\\*)`,
    `\\*${EMPHASISED}\\*(?!\\*)`,
    // Addresses that stand as they are: nothing in them has to be encoded.
    `(?<!!)\\[(${PLAIN}+)\\]\\((https?://[a-z0-9-]+(?:\\.[a-z0-9-]+)+(?:/[\\w./#=-]*)?)\\)`,
  ].join('|'),
  'y',
)

/**
 * The pieces of a text that has no markup but the plainest: code, emphasis and links one behind the other. Undefined for any other: that is the lexer's. Most
 * of what models say is such text, and the lexer takes ten times as long; what it says of it is the same, and a test holds one against the other.
 */
export function simplePieces(text: string): Piece[] | undefined {
  const pieces: Piece[] = []
  for (PIECE.lastIndex = 0; PIECE.lastIndex < text.length; ) {
    const found = PIECE.exec(text)
    if (found === null) return undefined
    pieces.push(pieceOf(found))
  }
  return pieces
}

/**
 * The pieces at the beginning of a text, in front of which nothing is open, that nothing behind them can change. They reach to a blank outside of markup, at
 * `end`; that is 0 if there are none.
 */
export function settledPieces(text: string): { readonly pieces: readonly Piece[]; readonly end: number } {
  const pieces: Piece[] = []
  let [settled, end, tail] = [0, 0, '']
  for (let at = 0; at < text.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at
    const found = PIECE.exec(text)
    if (found === null || isForHold(found)) break
    const piece = pieceOf(found)
    pieces.push(piece)
    const blank = piece.type === 'text' ? piece.content.lastIndexOf(' ') : -1
    if (blank >= 0) [settled, end, tail] = [pieces.length, at + blank, piece.content.slice(0, blank)]
  }
  pieces.length = settled
  if (settled > 0) pieces[settled - 1] = { type: 'text', content: tail }
  return { pieces, end }
}

/** Where an address ends, the hold finds; markup that it would not wait for it gives up. */
function isForHold([all, text]: RegExpExecArray): boolean {
  return text === undefined ? all.length > LONGEST_MARKUP : text.includes('://')
}

function pieceOf([, text, code, strong, emphasis, label, href]: readonly (string | undefined)[]): Piece {
  if (text !== undefined) return { type: 'text', content: text }
  if (code !== undefined) return { type: 'code', content: code }
  if (strong !== undefined) return { type: 'strong', content: strong }
  if (emphasis !== undefined) return { type: 'emphasis', content: emphasis }
  return { type: 'link', content: label as string, href: href as string }
}
