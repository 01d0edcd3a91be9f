import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { Frame } from '@agentpipe/frame'
import { EXIT, StageError, systemError } from '@agentpipe/stage'
import { MARKER, recordsIn } from './damaged-line.js'
import { fill, type Line, linesFromEnd, linesOf } from './lines.js'
import { PlainLines } from './plain-line.js'
import { type EventRecord, frameOf } from './record.js'
import { headsIn, ownHead, type RecordHead } from './record-head.js'

/** Told of each line that is not whole: where it is, and what is wrong with it. */
export type Damaged = (where: string, damage: string) => void

/** What to read of a log. */
export interface Extent {
  /** Where a line begins. */
  readonly start?: number
  /** Number of the first event. */
  readonly fromSeq?: number
  /** Told of the bytes that are read. */
  readonly read?: (bytes: number) => void
}

/** A record and the frame that it was made of. What the record has beside the frame is to be asked for before the next one is. */
export interface LogEntry {
  readonly record: EventRecord
  readonly frame: Frame
}

/** What a line of a log holds. */
export interface LineEntries {
  readonly entries: readonly LogEntry[]
  /** What is wrong with it. */
  readonly problems: readonly string[]
  /** The bytes of each entry, where the line is more than one record or less. */
  readonly pieces: readonly Buffer[]
  /** Nothing is wrong but that we don't know its type or version. */
  readonly unknown: boolean
}

const CLOSING_BRACE = 0x7d
const LONG_BYTES = 64 * 1024
const TAIL = Buffer.allocUnsafeSlow(LONG_BYTES)

const NOTHING: LineEntries = { entries: [], problems: [], pieces: [], unknown: false }
const TOO_LONG: LineEntries = { ...NOTHING, problems: ['too long for a record: left out'] }

/**
 * What a log holds, in order, in memory bounded by its longest line. Damage is reported and the rest used. Nothing is changed.
 * Throws StageError (66) where the log can't be read.
 */
export function* readLog(path: string, damaged: Damaged, { start = 0, fromSeq = 0, read }: Extent = {}): Generator<LogEntry> {
  let number = 0
  const plain = new PlainLines()
  for (const line of logLines(path, start)) {
    number++
    read?.(line.length)
    const entry = plain.entryIn(line.bytes)
    if (entry !== undefined) {
      if (entry.record.seq >= fromSeq) yield entry
      continue
    }
    if (fromSeq > 0 && headsIn(line).every(({ seq }) => seq < fromSeq)) continue
    const { entries, problems } = entriesIn(line)
    tellProblems(line, problems, start === 0 ? number : undefined, damaged)
    for (const each of entries) if (each.record.seq >= fromSeq) yield each
  }
}

/** Tells what is wrong with a line, by its number where that is known. */
export function tellProblems(line: Line, problems: readonly string[], number: number | undefined, damaged: Damaged): void {
  const where = number === undefined ? `line at byte ${line.start}` : `line ${number}`
  for (const problem of problems) damaged(where, line.ended ? problem : `torn, ${problem}`)
}

/** What is whole in a line, and what is wrong with it. */
export function entriesIn(line: Line): LineEntries {
  if (line.tooLong) return TOO_LONG
  if (isBlank(line)) return NOTHING
  const { records, damage, pieces = [], unknown = false } = recordsIn(line.bytes)
  const problems = damage === undefined ? [] : [damage]
  const entries: LogEntry[] = []
  const whole: Buffer[] = []
  for (const [index, record] of records.entries()) {
    const frame = wholeFrame(record, (problem) => problems.push(`${problem}: left out`))
    if (frame === undefined) continue
    entries.push({ record, frame })
    if (pieces[index] !== undefined) whole.push(pieces[index])
  }
  return { entries, problems, pieces: whole, unknown }
}

/** The lines of a log, in order, from the one that begins at `start`. Throws StageError (66) where it can't be read. */
export function logLines(path: string, start = 0): Generator<Line> {
  return reading(path, (descriptor) => linesOf(descriptor, start))
}

/** What `items` gives of a log that is open meanwhile. Throws StageError (66) where it can't be read. */
export function* reading<Item>(path: string, items: (descriptor: number) => Iterable<Item>): Generator<Item> {
  const descriptor = openLog(path)
  try {
    yield* items(descriptor)
  } catch (error) {
    throw cannotRead(path, error)
  } finally {
    closeSync(descriptor)
  }
}

/** What `look` finds in a log that is open while it looks. Throws StageError (66) where it can't be read. */
export function inLog<Found>(path: string, look: (descriptor: number) => Found): Found {
  const descriptor = openLog(path)
  try {
    return look(descriptor)
  } catch (error) {
    throw cannotRead(path, error)
  } finally {
    closeSync(descriptor)
  }
}

/** The last whole record of an open log, found from its end; undefined where there is none. */
export function lastRecord(descriptor: number): RecordHead | undefined {
  for (const line of linesFromEnd(descriptor, fstatSync(descriptor).size)) {
    const record = isOneLongRecord(descriptor, line) ? ownHead(line.head) : recordsIn(line.bytes).records.at(-1)
    if (record !== undefined) return record
  }
  return undefined
}

/** A line that looks whole at both ends, and that it would take long, and much memory, to parse. */
function isOneLongRecord(descriptor: number, { head, ended, start, length }: Line): boolean {
  if (!ended || length <= LONG_BYTES || ownHead(head) === undefined) return false
  const tail = fill(TAIL, descriptor, start + length - LONG_BYTES)
  return tail.at(-1) === CLOSING_BRACE && !tail.includes(MARKER)
}

/** Opens a log for reading, where it is a file: a FIFO would hold us up, a device may have no end. Throws StageError (66). */
export function openLog(path: string): number {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (fstatSync(descriptor).isFile()) return descriptor
    closeSync(descriptor)
  } catch (error) {
    throw cannotRead(path, error)
  }
  throw new StageError(EXIT.NO_INPUT, `cannot read ${path}: it is not a file`)
}

function cannotRead(path: string, error: unknown): unknown {
  return error instanceof StageError ? error : systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
}

function isBlank({ bytes }: Line): boolean {
  return bytes.length <= 1 && bytes.toString().trim() === ''
}

function wholeFrame(record: EventRecord, problem: (text: string) => void): Frame | undefined {
  try {
    return frameOf(record)
  } catch (error) {
    problem(`not a whole ${record.type} (${(error as Error).message})`)
    return undefined
  }
}
