import { INVISIBLE, TAG, visible } from './invisible.js'

/** What a stream of text is made of once everything that would act on the terminal is taken out. */
export interface TextSink {
  /** Printable characters, and LF. */
  text(run: string): void
  tab(): void
  carriageReturn(): void
  /** BS. */
  back?(): void
  /** SGR: the parameters of a sequence that sets colours and the like. */
  graphics?(parameters: string): void
  /** EL, erase in line. 0: to its end, 1: to its beginning, 2: all of it. */
  eraseLine?(mode: number): void
}

type State = 'text' | 'escape' | 'escape-rest' | 'csi' | 'string' | 'string-escape'

/** An unterminated sequence does not hide more than this many characters. */
const LONGEST_STRING = 4096
const LONGEST_CSI = 128
/** A subdivision's flag is a black flag and up to this many tags. */
const FLAG_TAGS = 7
const BLACK_FLAG = '\u{1f3f4}'

const SPECIAL = new RegExp(`${TAG}|[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f${INVISIBLE}]`, 'g')
/** What ends a control string, or breaks it off. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STRING_END = /[\x07\x18\x1a\x1b\x80-\x9f]/g

/**
 * Takes escape sequences and control characters out of one block of text, however it is cut.
 *
 * Whole sequences go (CSI, OSC, DCS, APC, PM, SOS, charset and two-character escapes, in their 7-bit forms and as U+0080 to
 * U+009F), and lone controls; invisible and direction-changing characters become visible escapes. LF stays, TAB and CR are
 * told apart. A sequence that is not finished ends with the block, or when it gets too long to be one.
 */
export class Sanitiser {
  #state: State = 'text'
  /** Characters of the sequence so far. */
  #length = 0
  #parameters = ''
  /** Whether BEL ends the control string. */
  #bellEnds = false
  #flagTags = 0

  push(text: string, sink: TextSink): void {
    for (let at = 0; at < text.length; ) at = this.#state === 'text' ? this.#text(text, at, sink) : this.#sequence(text, at, sink)
  }

  /** The block has ended: nothing of it reaches into the next. */
  reset(): void {
    this.#state = 'text'
    this.#flagTags = 0
  }

  #text(text: string, start: number, sink: TextSink): number {
    SPECIAL.lastIndex = start
    const match = SPECIAL.exec(text)
    const end = match?.index ?? text.length
    if (end > start) {
      const run = start === 0 && end === text.length ? text : text.slice(start, end)
      sink.text(run)
      this.#flagTags = run.endsWith(BLACK_FLAG) ? FLAG_TAGS : 0
    }
    if (match === null) return end
    this.#special(match[0], sink)
    return end + match[0].length
  }

  #special(character: string, sink: TextSink): void {
    const code = character.charCodeAt(0)
    if (code === 0x09) sink.tab()
    else if (code === 0x0d) sink.carriageReturn()
    else if (code === 0x08) sink.back?.()
    else if (code === 0x1b) this.#begin('escape')
    else if (code === 0x9b) this.#begin('csi')
    else if (code === 0x9d) this.#beginString(true)
    else if (code === 0x90 || code === 0x98 || code === 0x9e || code === 0x9f) this.#beginString(false)
    else if (code > 0x9f) this.#invisible(character, sink)
  }

  #invisible(character: string, sink: TextSink): void {
    const ofFlag = character.length === 2 && this.#flagTags-- > 0
    sink.text(ofFlag ? character : visible(character))
  }

  #begin(state: State): void {
    this.#state = state
    this.#length = 0
    this.#parameters = ''
  }

  #beginString(bellEnds: boolean): void {
    this.#begin('string')
    this.#bellEnds = bellEnds
  }

  /** Goes on with a sequence; returns where it is to be gone on from. A character that breaks it off is looked at again. */
  #sequence(text: string, at: number, sink: TextSink): number {
    if (this.#state === 'string') return this.#string(text, at)
    const code = text.charCodeAt(at)
    if (this.#state === 'csi') return this.#csi(text, at, code, sink)
    if (this.#state === 'string-escape') {
      if (code === 0x5c) this.#state = 'text'
      else this.#begin('escape')
      return code === 0x5c ? at + 1 : at
    }
    return this.#escape(at, code)
  }

  #escape(at: number, code: number): number {
    const rest = this.#state === 'escape-rest'
    if (code >= 0x20 && code <= 0x2f && ++this.#length < LONGEST_CSI) this.#state = 'escape-rest'
    else if (code < 0x20 || code > 0x7e) {
      this.#state = 'text'
      return at
    } else if (rest) this.#state = 'text'
    else if (code === 0x5b) this.#begin('csi')
    else if (code === 0x5d) this.#beginString(true)
    else if (code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f || code === 0x6b) this.#beginString(false)
    else this.#state = 'text'
    return at + 1
  }

  #csi(text: string, at: number, code: number, sink: TextSink): number {
    if (code < 0x20 || code > 0x7e || this.#length++ >= LONGEST_CSI) {
      this.#state = 'text'
      return at
    }
    if (code < 0x40) {
      this.#parameters += text[at]
      return at + 1
    }
    this.#state = 'text'
    if (code === 0x6d && /^[0-9;:]*$/.test(this.#parameters)) sink.graphics?.(this.#parameters)
    if (code === 0x4b && /^[012]?$/.test(this.#parameters)) sink.eraseLine?.(Number(this.#parameters))
    return at + 1
  }

  #string(text: string, start: number): number {
    STRING_END.lastIndex = start
    const match = STRING_END.exec(text)
    const room = LONGEST_STRING - this.#length
    const end = match?.index ?? text.length
    if (end - start >= room) {
      this.#state = 'text'
      return start + room
    }
    this.#length += end - start
    if (match === null) return end
    const code = text.charCodeAt(end)
    if (code === 0x07 && !this.#bellEnds) {
      this.#length++
      return end + 1
    }
    this.#state = code === 0x1b ? 'string-escape' : 'text'
    // BEL, ST, CAN and SUB belong to it; any other C1 begins something of its own.
    return code === 0x1b || code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a ? end + 1 : end
  }
}
