import { isUtf8 } from 'node:buffer'
import { type EventRecord, recordOf } from './record.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSING_BRACE = 0x7d
const NUL = 0
/** How each record begins. */
const MARKER = Buffer.from('{"v":')

/** What could be made of a line: its records, mostly one, and what is wrong with it, if anything. */
export interface LineContent {
  readonly records: readonly EventRecord[]
  readonly damage: string | undefined
}

/**
 * The records in a line of a log. A line is damaged by a crash, a power cut, another program or an editor; whatever is whole in it is
 * used: of records glued together all, of half a record or NULs with a record behind them that record.
 */
export function recordsIn(line: Buffer): LineContent {
  const whole = parse(line)
  if (typeof whole !== 'string') return { records: [whole], damage: undefined }
  const pieces = splitAtRecords(line)
  if (pieces.length === 1) return { records: [], damage: `${whole}: left out` }
  const records = pieces.map(parse).filter((piece) => typeof piece !== 'string')
  const lost = pieces.length - records.length
  return { records, damage: `${records.length} whole records on one line: used${lost > 0 ? `; the rest is ${whole}: left out` : ''}` }
}

/** A record, or what is wrong. */
function parse(bytes: Buffer): EventRecord | string {
  if (!isUtf8(bytes)) return 'not UTF-8'
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    return bytes.includes(NUL) ? 'not JSON (NUL bytes)' : 'not JSON'
  }
  try {
    return recordOf(value)
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Cuts a damaged line where a record begins that can't be part of another: a record's own text never holds the marker with
 * bare quotes inside a string, nor right behind a closing brace or a NUL. So a tool's input that looks like a record stays what it is.
 */
function splitAtRecords(line: Buffer): Buffer[] {
  const starts = [0]
  let inString = false
  let at = 0
  for (let marker = line.indexOf(MARKER, 1); marker >= 0; marker = line.indexOf(MARKER, marker + 1)) {
    for (; at < marker; at++) {
      if (line[at] === QUOTE) inString = !inString
      else if (line[at] === BACKSLASH && inString) at++
    }
    const before = line[marker - 1]
    if (!inString && before !== CLOSING_BRACE && before !== NUL) continue
    starts.push(marker)
    inString = false
    at = marker
  }
  return starts.map((start, index) => line.subarray(start, starts[index + 1]))
}
