import { createHash } from 'node:crypto'
import { closeSync, constants, fchmodSync, ftruncateSync, lstatSync, openSync, readFileSync, realpathSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT, reason, systemError } from '@agentpipe/stage'
import type { Change } from './kept-changes.js'

/**
 * Whether a change can be taken back: what is there `now`, just as it was written; or why not. `as before`: there is nothing to be done.
 */
export function stateOf({ path, bytes, mode, tooLarge, after }: Change): { readonly now: Buffer | undefined } | string {
  try {
    if (realpathSync(dirname(path)) !== dirname(path)) return 'its directory is another one now: left as it is'
  } catch (error) {
    return mode === undefined ? 'as before' : `${reason(error)}: left as it is`
  }
  let now: Buffer | undefined
  try {
    const stats = lstatSync(path)
    if (!stats.isFile()) return 'it is no regular file any more: left as it is'
    now = readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return `${reason(error)}: left as it is`
  }
  if (now === undefined) return mode === undefined ? 'as before' : 'it has been removed since: left as it is'
  if (bytes?.equals(now)) return 'as before'
  if (createHash('sha256').update(now).digest('hex') !== after) return 'it has been changed since: left as it is'
  return tooLarge ? 'what was in it was too large to be kept: left as it is' : { now }
}

/** Puts back what was there, in place, or removes what was not. Throws StageError (74). */
export function restore({ path, bytes, mode }: Change): void {
  try {
    if (mode === undefined || bytes === undefined) {
      unlinkSync(path)
      return
    }
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, at)
      ftruncateSync(descriptor, bytes.length)
      fchmodSync(descriptor, mode)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw systemError(EXIT.IO, `cannot write ${path}`, error)
  }
}
