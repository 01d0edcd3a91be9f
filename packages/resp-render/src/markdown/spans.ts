import { INVISIBLE, TAG, visible } from '../invisible.js'
import { linked, over } from '../pen.js'
import type { Words } from '../words.js'
import type { InlineContext } from './inline.js'
import { normalised, type Token } from './lexer.js'
import { addressesIn, addressToShow, canOpen } from './links.js'
import type { Piece } from './simple-markup.js'

const LABEL = /\[([^[\]]{1,200})\]/g
const MOST_LABELS = 1000
const ONLY_ASCII = /^[\n\t\x20-\x7e]*$/
/** Entities can stand for anything. */
const UNSAFE = new RegExp(`${TAG}|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f${INVISIBLE}]`, 'g')

/** The tokens of one settled text. */
export class Spans {
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

  piece(piece: Piece): void {
    const { theme } = this.#context
    switch (piece.type) {
      case 'text':
        this.text(piece.content)
        break
      case 'code':
        this.#code(piece.content)
        break
      case 'link':
        this.#openLink(piece.href)
        this.text(piece.content)
        this.#closeLink()
        break
      default:
        this.#push(theme[piece.type])
        this.text(piece.content)
        this.#styles.pop()
    }
  }

  #token(token: Token): void {
    const { theme } = this.#context
    switch (token.type) {
      case 'text':
        this.text(token.content)
        break
      case 'code_inline':
        this.#code(token.content)
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

  #code(content: string): void {
    this.#sign('`')
    this.#write(content, this.#context.theme.code)
    this.#sign('`')
  }

  #push(style: string): void {
    this.#styles.push(over(this.#style, style))
  }

  get #style(): string {
    return this.#styles.at(-1) as string
  }

  /** Text without markup: addresses in it are links. */
  text(content: string): void {
    if (this.#skip === 0 && !content.includes('[') && !content.includes('://')) {
      this.#write(content)
      return
    }
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

/** Shows text that may hold tabs. */
export function writeWords(words: Words, text: string, style: string): void {
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
