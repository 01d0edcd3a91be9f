import { unfinishedAtEnd } from './utf8.js'

const LF = 0x0a
const CR = 0x0d
/** What some programs begin a UTF-8 file with: no part of its text. */
const BOM = Buffer.from('\ufeff')

/** Which lines, counted from 1, and how many bytes of text at the most. */
export interface Window {
  readonly offset: number
  readonly limit: number
  readonly bytes: number
}

/** Lines of a file with their numbers in front, as `cat -n` prints them, of as much of it as the window shows. Takes the file in any pieces. */
export class NumberedLines {
  readonly #window: Window
  readonly #text: Buffer[] = []
  #bytes = 0
  /** Of the line that is being read. */
  #number = 1
  #line: Buffer[] = []
  #lineBytes = 0
  #begun = false
  #last = 0
  #full = false
  /** Bytes of a first line that is longer than the window. */
  #cut = 0
  #withReturn = 0
  #withoutReturn = 0

  constructor(window: Window) {
    this.#window = window
  }

  /** Whether the window is full, so that more input only counts lines. */
  get full(): boolean {
    return this.#full || this.#number >= this.#window.offset + this.#window.limit
  }

  /** The last line that is shown; 0 if there is none. */
  get last(): number {
    return this.#last
  }

  /** Bytes of the only line shown that there was no room for. */
  get cut(): number {
    return this.#cut
  }

  /** How the shown lines end; undefined where there is nothing odd about it. */
  get lineEndings(): 'CRLF' | 'some CRLF, some LF' | undefined {
    if (this.#withReturn === 0) return undefined
    return this.#withoutReturn === 0 ? 'CRLF' : 'some CRLF, some LF'
  }

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; ) {
      const newline = chunk.indexOf(LF, start)
      const end = newline < 0 ? chunk.length : newline
      if (this.#isShown()) this.#take(chunk.subarray(start, end))
      this.#begun = true
      if (newline >= 0) this.#endLine(true)
      start = end + 1
    }
  }

  /** What there is to show, when no more input comes. */
  finish(): { readonly text: Buffer; readonly lines: number; readonly endsWithNewline: boolean } {
    const endsWithNewline = !this.#begun
    if (this.#begun) this.#endLine(false)
    return { text: Buffer.concat(this.#text), lines: this.#number - 1, endsWithNewline }
  }

  #isShown(): boolean {
    return this.#number >= this.#window.offset && !this.full
  }

  /** No more of a line is kept than there is room for. */
  #take(piece: Buffer): void {
    const room = Math.max(0, this.#window.bytes - this.#bytes - this.#lineBytes)
    this.#line.push(Buffer.from(piece.subarray(0, room)))
    this.#lineBytes += Math.min(piece.length, room)
    this.#cut += Math.max(0, piece.length - room)
  }

  #endLine(newline: boolean): void {
    if (this.#isShown()) this.#show(newline)
    this.#line = []
    this.#lineBytes = 0
    this.#number++
    this.#begun = false
  }

  #show(newline: boolean): void {
    let line = Buffer.concat(this.#line)
    if (this.#cut > 0) this.#full = true
    if (this.#cut > 0 && this.#last > 0) {
      this.#cut = 0
      return
    }
    if (this.#cut > 0) line = line.subarray(0, line.length - unfinishedAtEnd(line))
    if (this.#number === 1 && line.subarray(0, BOM.length).equals(BOM)) line = line.subarray(BOM.length)
    const hasReturn = newline && line[line.length - 1] === CR
    if (hasReturn) line = line.subarray(0, -1)
    if (hasReturn) this.#withReturn++
    else if (newline) this.#withoutReturn++
    const text = Buffer.concat([Buffer.from(`${String(this.#number).padStart(6)}\t`), line, Buffer.from('\n')])
    this.#text.push(text)
    this.#bytes += text.length
    this.#last = this.#number
  }
}
