const CR = 0x0d
const LF = 0x0a
/** A line without an end is held back up to this many bytes, then it passes as it is. */
const LONGEST_LINE = 64 * 1024
/** A progress bar that redraws itself is reduced each time that it has grown by so many bytes. */
const REDUCE_BYTES = 8 * 1024
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it is about
const TOKENS = /\x1b\[[0-9;:?]*[ -/]*[@-~]|[\s\S]/gu
const ERASE_LINE = '\x1b[2K'
const ERASE_REST = ['\x1b[K', '\x1b[0K']

/**
 * Bytes of a terminal's kind in, text out as the terminal would show it in the end: what a carriage return lets later text
 * overwrite is gone, so that a progress bar leaves its last state. Lines without one pass as they are, without a copy.
 */
export class CarriageReturns {
  readonly #sink: (chunk: Buffer) => void
  /** The line that has no end yet. */
  #line: Buffer[] = []
  #bytes = 0
  #returns = false
  #reduced = 0
  /** Within a line that was too long to hold: to its end everything passes. */
  #long = false

  constructor(sink: (chunk: Buffer) => void) {
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    let rest = chunk
    if (this.#long) rest = this.#passLong(chunk)
    if (this.#returns || rest.includes(CR)) rest = this.#eachLine(rest)
    else {
      const end = rest.lastIndexOf(LF) + 1
      if (end > 0) this.#endLine(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    if (rest.length > 0) this.#hold(rest)
  }

  /** Nothing more comes: the last line is handed on. */
  end(): void {
    if (this.#bytes > 0) this.#endLine(Buffer.alloc(0))
  }

  #passLong(chunk: Buffer): Buffer {
    const end = chunk.indexOf(LF) + 1
    this.#long = end === 0
    const passing = end === 0 ? chunk : chunk.subarray(0, end)
    this.#sink(passing)
    return chunk.subarray(passing.length)
  }

  /** Lines one by one, since some have carriage returns; gives back the one without an end. */
  #eachLine(chunk: Buffer): Buffer {
    let start = 0
    for (let end = chunk.indexOf(LF) + 1; end > 0; end = chunk.indexOf(LF, start) + 1) {
      const line = chunk.subarray(start, end)
      this.#returns ||= line.includes(CR)
      this.#endLine(line)
      start = end
    }
    return chunk.subarray(start)
  }

  #endLine(end: Buffer): void {
    const returns = this.#returns
    const pieces = end.length > 0 ? [...this.#line, end] : this.#line
    this.#line = []
    this.#bytes = 0
    this.#returns = false
    this.#reduced = 0
    if (returns) this.#sink(reduced(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)))
    else for (const piece of pieces) this.#sink(piece)
  }

  #hold(piece: Buffer): void {
    this.#line.push(piece)
    this.#bytes += piece.length
    this.#returns ||= piece.includes(CR)
    if (this.#returns && this.#bytes > 2 * this.#reduced + REDUCE_BYTES) this.#reduceHeld()
    if (this.#bytes <= LONGEST_LINE) return
    this.#endLine(Buffer.alloc(0))
    this.#long = true
  }

  /** What stands before the last carriage return can be reduced at any time: the cursor is back at the first column. */
  #reduceHeld(): void {
    const line = Buffer.concat(this.#line)
    const last = line.lastIndexOf(CR)
    const shown = reduced(line.subarray(0, last))
    this.#line = [shown, line.subarray(last)]
    this.#bytes = shown.length + line.length - last
    this.#reduced = this.#bytes
  }
}

/** One line, its LF if it has one included, as a terminal shows it. */
function reduced(line: Buffer): Buffer {
  const hasEnd = line[line.length - 1] === LF
  let end = hasEnd ? line.length - 1 : line.length
  while (end > 0 && line[end - 1] === CR) end--
  if (!line.subarray(0, end).includes(CR)) return hasEnd ? Buffer.concat([line.subarray(0, end), line.subarray(-1)]) : line.subarray(0, end)
  return Buffer.from(drawn(line.toString('utf8', 0, end)) + (hasEnd ? '\n' : ''))
}

/** Text written cell by cell; colours and the like take no cell of their own. */
function drawn(text: string): string {
  const cells: string[] = []
  let column = 0
  let pending = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '\r') {
      if (column > 0) cells[column - 1] += pending
      pending = ''
      column = 0
    } else if (token === '\b') column = Math.max(0, column - 1)
    else if (token === ERASE_LINE) cells.length = 0
    else if (ERASE_REST.includes(token)) cells.length = Math.min(cells.length, column)
    else if (token.length > 2) pending += token
    else {
      while (cells.length < column) cells.push(' ')
      cells[column++] = pending + token
      pending = ''
    }
  }
  return cells.join('') + pending
}
