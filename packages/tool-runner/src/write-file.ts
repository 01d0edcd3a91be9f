import { constants } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileError, type NamedPath } from './file-kind.js'

/**
 * Puts `content` into the file at a real path, in place: its mode, owner and hard links stay. `before` is what is in there, put back if
 * there is no room for all of the new; undefined makes a new file, and the directories above it. Throws ToolError.
 */
export async function writeInPlace({ path, name }: NamedPath, content: Buffer, before: Buffer | undefined): Promise<void> {
  try {
    if (before === undefined) await mkdir(dirname(path), { recursive: true })
    // The path is real: a link in its last place has been put there since, to lead us elsewhere.
    const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const handle = await open(path, before === undefined ? flags | constants.O_CREAT | constants.O_EXCL : flags, 0o666)
    try {
      await replaceContent(handle, content, before)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw fileError(name, error)
  }
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
