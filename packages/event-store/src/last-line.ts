import { fstatSync, ftruncateSync, writeSync } from 'node:fs'
import { recordsIn } from './damaged-line.js'
import { type Line, linesFromEnd } from './lines.js'
import { SideFile, sidePath } from './side-file.js'

/**
 * Makes a log that is open for appending end in LF. A last line that lacks it but is a whole record gets it; one that is torn, by a
 * crash or a full disk, is moved to a file of its own, whose path is given back. Throws what the system says.
 */
export function endLastLine(descriptor: number, path: string): string | undefined {
  const { size } = fstatSync(descriptor)
  const last = linesFromEnd(descriptor, size).next().value as Line | undefined
  if (last === undefined || last.ended) return undefined
  if (recordsIn(last.bytes).records.length > 0) {
    writeSync(descriptor, '\n')
    return undefined
  }
  // The copy is safe on disk before the original is cut.
  const aside = new SideFile(sidePath(path, 'torn'))
  try {
    aside.copy(descriptor, last.start, size)
    aside.finish()
  } catch (error) {
    aside.discard()
    throw error
  }
  ftruncateSync(descriptor, last.start)
  return aside.path
}
