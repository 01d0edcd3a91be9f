import { createRequire } from 'node:module'
import type MarkdownIt from 'markdown-it'

// Read when the first text with markup comes: most of a session, and many a session, has none.
const require = createRequire(import.meta.url)

type Lexer = ReturnType<typeof MarkdownIt>
export type Token = ReturnType<Lexer['parse']>[number]

/** What links refer to, by label. */
export type References = Record<string, unknown> & {
  references?: Record<string, { readonly href: string; readonly title: string }>
}

let shared: Lexer | undefined

function lexer(): Lexer {
  if (shared === undefined) {
    const make = require('markdown-it') as typeof MarkdownIt
    shared = make({ html: true, maxNesting: 40 })
    // An address is shown as it stands: what is decoded in it could be anything.
    shared.normalizeLinkText = (address) => address
  }
  return shared
}

/** The tokens of text that is all of a paragraph or a part of it in which no markup is open. */
export function inlineTokens(text: string, references: References): readonly Token[] {
  return lexer().parseInline(text, references)[0]?.children ?? []
}

/** Takes the definitions of links off the beginning of a paragraph into `references`; gives the rest. */
export function takeDefinitions(text: string, references: References): string {
  const tokens = lexer().parse(text, references)
  return tokens
    .filter(({ type }) => type === 'inline')
    .map(({ content }) => content)
    .join('\n')
}

/** A label as links refer to it. */
export function normalised(label: string): string {
  return lexer().utils.normalizeReference(label)
}
