import { closeSync, fstatSync, openSync } from 'node:fs'
import type { Frame } from '@agentpipe/frame'
import { EXIT, readChunks, systemError } from '@agentpipe/stage'
import { recordsIn } from './damaged-line.js'
import { type Line, linesFromEnd, linesOf } from './lines.js'
import { type EventRecord, frameOf } from './record.js'

/** Told of each line that is not whole: its number, from 1, and what is wrong with it. */
export type Damaged = (line: number, damage: string) => void

/** A record and the frame that it was made of. */
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

const NOTHING: LineEntries = { entries: [], problems: [], pieces: [], unknown: false }
const TOO_LONG: LineEntries = { ...NOTHING, problems: ['too long for a record: left out'] }

/**
 * What a log holds, in order, in memory bounded by its longest line. Damage is reported and the rest used. Nothing is changed.
 * Throws StageError (66) where the log can't be read.
 */
export function* readLog(path: string, damaged: Damaged): Generator<LogEntry> {
  let number = 0
  for (const line of logLines(path)) {
    number++
    const { entries, problems } = entriesIn(line)
    for (const problem of problems) damaged(number, line.ended ? problem : `torn, ${problem}`)
    yield* entries
  }
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

/** The lines of a log, in order. Throws StageError (66) where it can't be read. */
export function* logLines(path: string): Generator<Line> {
  const descriptor = openLog(path)
  try {
    yield* linesOf(readChunks(descriptor))
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  } finally {
    closeSync(descriptor)
  }
}

/** The last whole record of a log, found from its end; undefined where there is none. Throws StageError (66) where it can't be read. */
export function lastRecordOf(path: string): EventRecord | undefined {
  const descriptor = openLog(path)
  try {
    return lastRecord(descriptor)
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  } finally {
    closeSync(descriptor)
  }
}

/** The same for a log that is open. */
export function lastRecord(descriptor: number): EventRecord | undefined {
  for (const line of linesFromEnd(descriptor, fstatSync(descriptor).size)) {
    const record = recordsIn(line.bytes).records.at(-1)
    if (record !== undefined) return record
  }
  return undefined
}

function openLog(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
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
