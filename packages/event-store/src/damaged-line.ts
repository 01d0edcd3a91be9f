import { isUtf8 } from 'node:buffer'
import { type EventRecord, recordOf, UnknownRecord } from './record.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSING_BRACE = 0x7d
const NUL = 0
/** How each record begins. */
export const MARKER = Buffer.from('{"v":')

/** What could be made of a line: its records, mostly one, and what is wrong with it, if anything. */
export interface LineContent {
  readonly records: readonly EventRecord[]
  readonly damage: string | undefined
  /** Where there is damage, the bytes of each record. */
  readonly pieces?: readonly Buffer[]
  /** Whole, but of a version or type that we don't know: another program, or a later one, may. */
  readonly unknown?: true
}

/**
 * The records in a line of a log. A line is damaged by a crash, a power cut, another program or an editor; whatever is whole in it is
 * used: of records glued together all, of half a record or NULs with a record behind them that record.
 */
export function recordsIn(line: Buffer): LineContent {
  const whole = parse(line)
  if (!(whole instanceof Error)) return { records: [whole], damage: undefined }
  if (whole instanceof UnknownRecord) return { records: [], damage: `${whole.message}: left out`, unknown: true }
  const records: EventRecord[] = []
  const pieces: Buffer[] = []
  const all = splitAtRecords(line)
  for (const piece of all.length === 1 ? [] : all) {
    const record = parse(piece)
    if (record instanceof Error) continue
    records.push(record)
    pieces.push(piece)
  }
  const lost = all.length - records.length
  const count = `${records.length} whole ${records.length === 1 ? 'record' : 'records'} on one line: used`
  return { records, pieces, damage: [...(records.length > 0 ? [count] : []), ...(lost > 0 ? [`${rest(records)}${whole.message}: left out`] : [])].join('; ') }
}

function rest(used: readonly unknown[]): string {
  return used.length > 0 ? 'the rest is ' : ''
}

/** A record, or what is wrong. */
function parse(bytes: Buffer): EventRecord | Error {
  if (!isUtf8(bytes)) return new Error('not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    return new Error(bytes.includes(NUL) ? 'not JSON (NUL bytes)' : 'not JSON')
  }
  try {
    return recordOf(value)
  } catch (error) {
    return error as Error
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
