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

function pieceOf([, text, code, strong, emphasis, label, href]: readonly (string | undefined)[]): Piece {
  if (text !== undefined) return { type: 'text', content: text }
  if (code !== undefined) return { type: 'code', content: code }
  if (strong !== undefined) return { type: 'strong', content: strong }
  if (emphasis !== undefined) return { type: 'emphasis', content: emphasis }
  return { type: 'link', content: label as string, href: href as string }
}
