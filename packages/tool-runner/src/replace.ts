import { ToolError } from './tool-error.js'

const LF = 0x0a
/** More matches than this are not counted. */
const MOST_COUNTED = 10_000

export interface Replacement {
  readonly oldString: string
  readonly newString: string
  readonly all: boolean
}

/**
 * `content` with `oldString` replaced, byte for byte: nothing in either string means anything but itself. Unless all are wanted there must
 * be exactly one, overlapping ones counted; else ToolError, with the count.
 *
 * The model sees every line end as LF. So in a file with CRLF an LF of `oldString` is either, and one of `newString` becomes
 * what the lines around it have; strings that hold a CR themselves are taken as they are. What both strings begin and end with is
 * not touched.
 */
export function replaceText(content: Buffer, { oldString, newString, all }: Replacement): { readonly content: Buffer; readonly count: number } {
  if (oldString === '') throw new ToolError('old_string is empty: Write makes a new file')
  if (oldString === newString) throw new ToolError('old_string and new_string are the same: there is nothing to change')
  const literal = oldString.includes('\r') || newString.includes('\r')
  const view = literal ? new LineView(content, []) : lineView(content)
  const from = Buffer.from(oldString)
  const matches = positionsOf(view.text, from, !all)
  if (matches.length === 0) throw new ToolError('old_string is not in the file: it must be there exactly as it is written, blanks and line breaks too')
  if (matches.length > 1 && !all)
    throw new ToolError(`old_string is there ${countOf(matches)} times: give more of what stands around the one, or set replace_all`)
  return { content: replaceAt(view, matches, from, Buffer.from(newString)), count: matches.length }
}

function countOf(matches: readonly number[]): string {
  return matches.length > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(matches.length)
}

/** Where `wanted` begins in `text`, from left to right; overlapping ones too, up to a number, if so asked. */
function positionsOf(text: Buffer, wanted: Buffer, overlapping: boolean): number[] {
  const positions: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + (overlapping ? 1 : wanted.length))) {
    positions.push(at)
    if (overlapping && positions.length > MOST_COUNTED) break
  }
  return positions
}

function replaceAt(view: LineView, matches: readonly number[], from: Buffer, to: Buffer): Buffer {
  const { prefix, suffix } = commonEnds(from, to)
  const middle = to.subarray(prefix, to.length - suffix)
  const pieces: Buffer[] = []
  let done = 0
  for (const at of matches) {
    pieces.push(view.raw.subarray(done, view.rawIndex(at + prefix)), view.usesReturns(at, at + from.length) ? withReturns(middle) : middle)
    done = view.rawIndex(at + from.length - suffix)
  }
  return Buffer.concat([...pieces, view.raw.subarray(done)])
}

/** How many bytes both begin with, and how many of the others both end with. */
function commonEnds(a: Buffer, b: Buffer): { prefix: number; suffix: number } {
  const shorter = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < shorter && a[prefix] === b[prefix]) prefix++
  let suffix = 0
  while (suffix < shorter - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix++
  return { prefix, suffix }
}

function withReturns(text: Buffer): Buffer {
  return text.includes(LF) ? Buffer.from(text.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') : text
}

/** A content with every CRLF seen as LF. */
class LineView {
  readonly text: Buffer

  constructor(
    readonly raw: Buffer,
    /** Where in `text` the LFs are that have a CR before them in `raw`, in order. */
    private readonly returns: readonly number[],
    text = raw,
  ) {
    this.text = text
  }

  /** The place in `raw` of a place in `text`; that of an LF is its CR's. */
  rawIndex(index: number): number {
    return index + this.#returnsBefore(index)
  }

  /** Whether lines end in CRLF there: the first line end between `start` and `end` decides, else the last one before, else the next. */
  usesReturns(start: number, end: number): boolean {
    if (this.returns.length === 0) return false
    const within = this.text.indexOf(LF, start)
    const before = start === 0 ? -1 : this.text.lastIndexOf(LF, start - 1)
    const decisive = (within >= 0 && within < end) || before < 0 ? within : before
    return decisive >= 0 && this.returns[this.#returnsBefore(decisive)] === decisive
  }

  #returnsBefore(index: number): number {
    let low = 0
    let high = this.returns.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.returns[middle] as number) < index) low = middle + 1
      else high = middle
    }
    return low
  }
}

function lineView(raw: Buffer): LineView {
  const text = Buffer.allocUnsafe(raw.length)
  const returns: number[] = []
  let length = 0
  let done = 0
  for (let at = raw.indexOf('\r\n'); at >= 0; at = raw.indexOf('\r\n', done + 1)) {
    length += raw.copy(text, length, done, at)
    returns.push(length)
    // The LF goes with the next piece.
    done = at + 1
  }
  length += raw.copy(text, length, done)
  return new LineView(raw, returns, text.subarray(0, length))
}
