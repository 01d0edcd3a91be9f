import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { type Diagnose, printable, reason } from '@agentpipe/stage'
import { cleanText } from './request-text.js'

/** Bytes of a file that are read: more than that no model heeds. */
const MOST_BYTES = 64 * 1024

export interface ContextFile {
  /** With every link resolved. */
  readonly realPath: string
  /** Valid Unicode without NULs. */
  readonly text: string
}

/**
 * A text file that is part of the system prompt; undefined where there is none. Nothing but a regular file is read, and not what lies outside of `inside`,
 * where that is given: a project that links its AGENTS.md to a key would have it sent to a server. `diagnose` is told why a file that is there is
 * left out, or not read to its end.
 */
export function readContextFile(path: string, inside: string | undefined, diagnose: Diagnose): ContextFile | undefined {
  try {
    const realPath = realpathSync(path)
    if (inside !== undefined && !realPath.startsWith(inside.endsWith(sep) ? inside : inside + sep)) {
      diagnose(`${path} is left out of the system prompt: it is a link to ${realPath}, outside of the project`)
      return undefined
    }
    if (inside !== undefined && realPath.includes(`${sep}.git${sep}`)) {
      diagnose(`${path} is left out of the system prompt: it is a link into .git, which may hold passwords`)
      return undefined
    }
    return { realPath, text: readText(path, realPath, diagnose) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') diagnose(`${path} is left out of the system prompt: ${reason(error)}`)
    return undefined
  }
}

function readText(path: string, realPath: string, diagnose: Diagnose): string {
  // A FIFO would keep us waiting, and a link that was put there since would lead elsewhere.
  const descriptor = openSync(realPath, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) {
      diagnose(`${path} is left out of the system prompt: it is no regular file`)
      return ''
    }
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    const text = cleanText(bytes.toString('utf8', 0, Math.min(length, MOST_BYTES)).replace(/^\uFEFF/, ''))
    if (length <= MOST_BYTES) return text
    diagnose(`of ${path} the first ${MOST_BYTES / 1024} KiB are in the system prompt: it has ${stats.size} bytes`)
    return `${text}\n[... the rest of ${printable(path)} is left out ...]`
  } finally {
    closeSync(descriptor)
  }
}
