import { INVISIBLE, TAG, visible } from '../invisible.js'
import { linked, over } from '../pen.js'
import type { Theme } from '../theme.js'
import type { Words } from '../words.js'
import { InlineHold } from './inline-hold.js'
import { inlineTokens, normalised, type References, type Token } from './lexer.js'
import { addressesIn, addressToShow, canOpen } from './links.js'

/** What inline markup is shown with, and what it refers to: the same for a whole message. */
export interface InlineContext {
  readonly theme: Theme
  /** Whether there are colours and the like; else what they mean has to be said by signs. */
  readonly styled: boolean
  /** Whether the terminal takes addresses as OSC 8. */
  readonly links: boolean
  /** Whether code is wrapped. */
  readonly wrapCode: boolean
  readonly references: References
  /** Labels that something in brackets had, but nothing defines so far. */
  readonly undefinedLabels: Set<string>
  /** Links so far. */
  linkCount: number
}

const MARKUP = /[*_~`[\]<&\\]/
const LABEL = /\[([^[\]]{1,200})\]/g
const MOST_LABELS = 1000
const ONLY_ASCII = /^[\n\t\x20-\x7e]*$/
/** Entities can stand for anything. */
const UNSAFE = new RegExp(`${TAG}|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f${INVISIBLE}]`, 'g')

/** A text with inline markup that comes in pieces, shown as words. */
export class Inline {
  readonly #context: InlineContext
  readonly #words: Words
  readonly #base: string
  readonly #hold = new InlineHold((text, before) => this.#settled(text, before))

  constructor(context: InlineContext, words: Words, base: string) {
    this.#context = context
    this.#words = words
    this.#base = base
  }

  /** LF ends a line. */
  push(text: string): void {
    this.#hold.push(text)
  }

  end(): void {
    this.#hold.end()
  }

  /** Whether all that came is shown. */
  get settled(): boolean {
    return this.#hold.settled
  }

  #settled(text: string, before: string): void {
    if (!MARKUP.test(text)) {
      if (text.includes('://')) new Spans(this.#context, this.#words, this.#base, before.length).text(before + text)
      else writeWords(this.#words, text, this.#base)
      return
    }
    // Emphasis depends on the character in front: it is given to the lexer, and taken away again.
    const context = /[\s*_~`[\]<>&\\!]/.test(before) ? '' : before
    const tokens = inlineTokens(context + text, this.#context.references)
    new Spans(this.#context, this.#words, this.#base, context.length).show(tokens)
  }
}

/** The tokens of one settled text. */
class Spans {
  readonly #context: InlineContext
  readonly #words: Words
  #styles: string[]
  /** Characters at the beginning that are not shown. */
  #skip: number
  #link: { readonly href: string; text: string } | undefined

  constructor(context: InlineContext, words: Words, base: string, skip: number) {
    this.#context = context
    this.#words = words
    this.#styles = [base]
    this.#skip = skip
  }

  show(tokens: readonly Token[]): void {
    for (const token of tokens) this.#token(token)
  }

  #token(token: Token): void {
    const { theme } = this.#context
    switch (token.type) {
      case 'text':
        this.text(token.content)
        break
      case 'code_inline':
        this.#sign('`')
        this.#write(token.content, theme.code)
        this.#sign('`')
        break
      case 'strong_open':
        this.#push(theme.strong)
        break
      case 'em_open':
        this.#push(theme.emphasis)
        break
      case 's_open':
        this.#push(theme.struck)
        this.#sign('~~')
        break
      case 's_close':
        this.#sign('~~')
        this.#styles.pop()
        break
      case 'strong_close':
      case 'em_close':
        this.#styles.pop()
        break
      case 'link_open':
        this.#openLink(String(token.attrGet('href') ?? ''))
        break
      case 'link_close':
        this.#closeLink()
        break
      case 'image':
        this.#image(String(token.attrGet('src') ?? ''), token.children?.map(({ content }) => content).join('') ?? '')
        break
      case 'softbreak':
      case 'hardbreak':
        this.#words.newline()
        break
      default:
        this.#html(token.content)
    }
  }

  #push(style: string): void {
    this.#styles.push(over(this.#style, style))
  }

  get #style(): string {
    return this.#styles.at(-1) as string
  }

  /** Text without markup: addresses in it are links. */
  text(content: string): void {
    if (content.includes('[')) this.#noteLabels(content)
    let at = this.#skip
    this.#skip = 0
    for (const { start, end } of this.#link ? [] : addressesIn(content)) {
      this.#write(content.slice(at, start))
      this.#openLink(content.slice(start, end))
      this.#write(content.slice(start, end))
      this.#closeLink()
      at = end
    }
    this.#write(content.slice(at))
  }

  #noteLabels(text: string): void {
    const { undefinedLabels } = this.#context
    for (const [, label = ''] of text.matchAll(LABEL)) if (undefinedLabels.size < MOST_LABELS) undefinedLabels.add(normalised(label))
  }

  #write(content: string, style = ''): void {
    const text = ONLY_ASCII.test(content) ? content : content.replace(UNSAFE, shownInstead)
    if (this.#link) this.#link.text += text
    writeWords(this.#words, text, over(this.#style, style))
  }

  /** Where a look can't say it. */
  #sign(sign: string): void {
    if (!this.#context.styled) this.#words.write(sign, this.#style)
  }

  #html(tag: string): void {
    if (/^<br\s*\/?>$/i.test(tag)) this.#words.newline()
    else this.#write(tag, this.#context.theme.comment)
  }

  #image(address: string, text: string): void {
    const shown = `▣ ${text}`.trimEnd()
    if (this.#link) {
      this.#write(shown)
      return
    }
    this.#openLink(address)
    this.#write(shown)
    this.#closeLink()
  }

  #openLink(href: string): void {
    const { theme, links } = this.#context
    this.#link = { href, text: '' }
    const style = over(this.#style, theme.link)
    this.#styles.push(links && canOpen(href) ? linked(style, href, ++this.#context.linkCount) : style)
  }

  #closeLink(): void {
    this.#styles.pop()
    const { theme, links } = this.#context
    const address = this.#link === undefined ? '' : addressToShow(this.#link.href, this.#link.text, links)
    this.#link = undefined
    if (address !== '') this.#write(` (${address})`, theme.address)
  }
}

function writeWords(words: Words, text: string, style: string): void {
  if (!text.includes('\t')) {
    if (text !== '') words.write(text, style)
    return
  }
  for (const [index, part] of text.split('\t').entries()) {
    if (index > 0) words.tab()
    if (part !== '') words.write(part, style)
  }
}

/** Controls are dropped. */
function shownInstead(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ? '' : visible(character)
}
