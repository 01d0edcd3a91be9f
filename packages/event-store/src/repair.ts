import { closeSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT, StageError, syncDirectories, systemError } from '@agentpipe/stage'
import type { Line } from './lines.js'
import { entriesIn, logLines, openLog } from './log-reader.js'
import { lockSession } from './session-lock.js'
import { SideFile, sidePath } from './side-file.js'

const LF = Buffer.from('\n')

/**
 * Writes a log anew without what is damaged in it, and gives the path of the file that has each damaged line, as it was. Whole lines stay byte for
 * byte; of one that holds several records, each gets a line. The log changes in one step, when both files are on disk. Throws StageError: 75 where
 * another process writes the session, 74 where the files can't be written, 66 where the log can't be read.
 */
export function repair(log: string): string {
  try {
    const release = lockSession(dirname(log))
    try {
      return rewrite(log)
    } finally {
      release()
    }
  } catch (error) {
    if (error instanceof StageError) throw error
    throw systemError(EXIT.IO, `cannot repair ${log}`, error)
  }
}

function rewrite(log: string): string {
  const repaired = new SideFile(sidePath(log, 'repaired'))
  const aside = new SideFile(sidePath(log, 'damaged'))
  const original = openLog(log)
  try {
    for (const line of logLines(log)) put(line, repaired, aside, original)
    aside.finish()
    repaired.finish()
  } catch (error) {
    repaired.discard()
    aside.discard()
    throw error
  } finally {
    closeSync(original)
  }
  renameSync(repaired.path, log)
  syncDirectories(dirname(log))
  return aside.path
}

function put(line: Line, repaired: SideFile, aside: SideFile, original: number): void {
  const { problems, pieces, unknown } = entriesIn(line)
  if (problems.length === 0 || unknown) {
    repaired.write(line.bytes)
    repaired.write(LF)
    return
  }
  for (const piece of pieces) {
    repaired.write(piece)
    repaired.write(LF)
  }
  aside.copy(original, line.start, line.start + line.length)
  aside.write(LF)
}
