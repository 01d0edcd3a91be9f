import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { refuseOdd } from './file-kind.js'
import { absolutePath, realTarget } from './paths.js'
import { ToolError } from './tool-error.js'

/** Where to search, a real path, and whether it is a directory. Undefined when only what the glob adds isn't there. Throws ToolError when `path` isn't. */
export async function searchRoot(workspace: string, path: string | undefined, inGlob: string): Promise<{ path: string; isDirectory: boolean } | undefined> {
  const start = await realTarget(path === undefined ? workspace : absolutePath(workspace, path))
  const given = await stat(start).catch(() => undefined)
  if (given === undefined) throw new ToolError(`${path}: no such file or directory`)
  if (!given.isDirectory()) refuseOdd(given, path ?? '.')
  if (inGlob === '.') return { path: start, isDirectory: given.isDirectory() }
  const below = await realTarget(isAbsolute(inGlob) ? inGlob : join(start, inGlob))
  const stats = await stat(below).catch(() => undefined)
  return stats === undefined ? undefined : { path: below, isDirectory: stats.isDirectory() }
}
