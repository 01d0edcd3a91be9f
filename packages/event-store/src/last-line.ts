import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { recordsIn } from './damaged-line.js'
import { linesFromEnd, type PlacedLine } from './lines.js'

const SLICE_BYTES = 64 * 1024

/**
 * Makes a log that is open for appending end in LF. A last line that lacks it but is a whole record gets it; one that is torn, by a
 * crash or a full disk, is moved to a file of its own, whose path is given back. Throws what the system says.
 */
export function endLastLine(descriptor: number, path: string): string | undefined {
  const { size } = fstatSync(descriptor)
  const last = linesFromEnd(descriptor, size).next().value as PlacedLine | undefined
  if (last === undefined || last.ended) return undefined
  if (recordsIn(last.bytes).records.length > 0) {
    writeSync(descriptor, '\n')
    return undefined
  }
  const aside = copyAside(descriptor, last.start, size, path)
  ftruncateSync(descriptor, last.start)
  return aside
}

/** The copy is safe on disk before the original is cut. */
function copyAside(from: number, start: number, end: number, path: string): string {
  const aside = `${path}.torn-${new Date().toISOString().replace(/[-:]/g, '')}`
  const to = openSync(aside, 'wx', 0o600)
  try {
    const slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    for (let at = start; at < end; ) {
      const count = readSync(from, slice, 0, Math.min(slice.length, end - at), at)
      if (count === 0) break
      for (let written = 0; written < count; ) written += writeSync(to, slice, written, count - written)
      at += count
    }
    fsyncSync(to)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  } finally {
    closeSync(to)
  }
  return aside
}
