import { readFileSync } from 'node:fs'
import { EXIT, systemError } from '@agentpipe/stage'

/** The text of a file that an option names, as UTF-8. Throws StageError (66) when it can't be read. */
export function readOptionFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw systemError(EXIT.NO_INPUT, `cannot read ${path}`, error)
  }
}
