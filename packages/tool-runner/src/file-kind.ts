import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { reason } from '@agentpipe/stage'
import { ToolError } from './tool-error.js'

/** A path and how it is called in messages. */
export interface NamedPath {
  readonly path: string
  readonly name: string
}

/**
 * Opens a regular file for reading. Everything else is refused at once, judged by stat before it is opened, since opening a FIFO or a
 * device can wait for ever. Throws ToolError.
 */
export async function openRegularFile({ path, name }: NamedPath): Promise<FileHandle> {
  try {
    refuseOdd(await stat(path), name)
    // Some files below /proc and /sys wait for something to happen: O_NONBLOCK, they say so.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      refuseOdd(await handle.stat(), name)
    } catch (error) {
      await handle.close()
      throw error
    }
    return handle
  } catch (error) {
    throw fileError(name, error)
  }
}

/** The content of a regular file; undefined where there is none. Throws ToolError for what is no regular file, or larger than `limit` bytes. */
export async function contentOf({ path, name }: NamedPath, limit: number): Promise<Buffer | undefined> {
  try {
    const stats = await stat(path)
    refuseOdd(stats, name)
    if (stats.size > limit) throw new ToolError(`${name} has ${stats.size} bytes, which is too large for this tool: use Bash`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fileError(name, error)
  }
  const handle = await openRegularFile({ path, name })
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** The ToolError for a failed call to the system. */
export function fileError(name: string, error: unknown): ToolError {
  return error instanceof ToolError ? error : new ToolError(`${name}: ${reason(error)}`)
}

/** Throws ToolError for what is no regular file. */
export function refuseOdd(stats: Stats, name: string): void {
  if (stats.isFile()) return
  if (stats.isDirectory()) throw new ToolError(`${name} is a directory: Glob lists the files in it`)
  throw new ToolError(`${name} is ${oddKind(stats)}, not a regular file`)
}

function oddKind(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe (FIFO)'
  if (stats.isSocket()) return 'a socket'
  return stats.isBlockDevice() ? 'a block device' : 'a character device'
}
