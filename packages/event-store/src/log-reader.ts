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

/**
 * What a log holds, in order, in memory bounded by its longest line. Damage is reported and the rest used. Nothing is changed.
 * Throws StageError (66) where the log can't be read.
 */
export function* readLog(path: string, damaged: Damaged): Generator<LogEntry> {
  let number = 0
  for (const line of logLines(path)) {
    number++
    if (isBlank(line)) continue
    const { records, damage } = line.tooLong ? { records: [], damage: 'too long for a record: left out' } : recordsIn(line.bytes)
    if (damage !== undefined) damaged(number, line.ended ? damage : `torn, ${damage}`)
    for (const record of records) {
      const frame = wholeFrame(record, (problem) => damaged(number, `${problem}: left out`))
      if (frame !== undefined) yield { record, frame }
    }
  }
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

function isBlank({ bytes, tooLong }: Line): boolean {
  return !tooLong && bytes.length <= 1 && bytes.toString().trim() === ''
}

function wholeFrame(record: EventRecord, problem: (text: string) => void): Frame | undefined {
  try {
    return frameOf(record)
  } catch (error) {
    problem(`not a whole ${record.type} (${(error as Error).message})`)
    return undefined
  }
}
