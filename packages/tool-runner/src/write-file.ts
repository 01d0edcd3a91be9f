import { constants } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { fileError, type NamedPath } from './file-kind.js'

/** Of Linux: a directory is only gone through, which takes no permission to read it. Node has no name for it. */
const O_PATH = 0o10000000
const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * Puts `content` into the file at a real path, in place: its mode, owner and hard links stay. `before` is what is in there, put back if
 * there is no room for all of the new; undefined makes a new file, and the directories above it. Throws ToolError.
 */
export async function writeInPlace({ path, name }: NamedPath, content: Buffer, before: Buffer | undefined): Promise<void> {
  try {
    const directory = await openDirectory(dirname(path), before === undefined)
    try {
      const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
      const place = `/proc/self/fd/${directory.fd}/${basename(path)}`
      const handle = await open(place, before === undefined ? flags | constants.O_CREAT | constants.O_EXCL : flags, 0o666)
      await replaceContent(handle, content, before).finally(() => handle.close())
    } finally {
      await directory.close()
    }
  } catch (error) {
    throw fileError(name, error)
  }
}

/**
 * Opens a directory by its real path, one name after the other, and makes what is missing. There is no link in a real path: one that
 * somebody has put there since the path was judged, to lead us elsewhere, is an error.
 */
async function openDirectory(path: string, make: boolean): Promise<FileHandle> {
  let directory = await open('/', DIRECTORY)
  for (const name of path.split('/').filter((each) => each !== '')) {
    const above = directory
    const place = `/proc/self/fd/${above.fd}/${name}`
    try {
      directory = await open(place, DIRECTORY).catch(async (error: NodeJS.ErrnoException) => {
        if (!make || error.code !== 'ENOENT') throw error
        await mkdir(place).catch((problem: NodeJS.ErrnoException) => {
          if (problem.code !== 'EEXIST') throw problem
        })
        return open(place, DIRECTORY)
      })
    } finally {
      await above.close()
    }
  }
  return directory
}

async function replaceContent(handle: FileHandle, content: Buffer, before: Buffer | undefined): Promise<void> {
  try {
    await writeAt0(handle, content)
  } catch (error) {
    if (before !== undefined) await writeAt0(handle, before).catch(() => {})
    throw error
  }
  await handle.truncate(content.length)
}

async function writeAt0(handle: FileHandle, content: Buffer): Promise<void> {
  for (let at = 0; at < content.length; ) at += (await handle.write(content, at, content.length - at, at)).bytesWritten
}
