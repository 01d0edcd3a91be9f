import { lstat, readlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, relative } from 'node:path'
import { reason } from '@agentpipe/stage'
import { ToolError } from './tool-error.js'

/** As many as Linux follows. */
const MOST_LINKS = 40

/** A path that the model gave, made absolute: from the workspace, or the home directory after `~`. Its links and `..` are left to the system. */
export function absolutePath(workspace: string, path: string): string {
  if (path === '') throw new ToolError('the path is empty')
  if (path.includes('\0')) throw new ToolError('the path holds a NUL byte, which no path can')
  if (path === '~' || path.startsWith('~/')) return homedir() + path.slice(1)
  return isAbsolute(path) ? path : `${workspace}/${path}`
}

/**
 * Where an absolute path leads in the end, through every link, whether there is anything or not: a dangling link leads to the file that
 * writing through it would make. Throws ToolError for a path that can't lead anywhere.
 */
export async function realTarget(path: string): Promise<string> {
  let real = ''
  let links = 0
  const rest = path.split('/').reverse()
  while (rest.length > 0) {
    const name = rest.pop() as string
    if (name === '' || name === '.') continue
    if (name === '..') {
      real = real.slice(0, Math.max(0, real.lastIndexOf('/')))
      continue
    }
    const target = await linkTarget(`${real}/${name}`, path)
    if (target === undefined) {
      real = `${real}/${name}`
      continue
    }
    if (++links > MOST_LINKS) throw new ToolError(`${path}: too many symbolic links`)
    if (isAbsolute(target)) real = ''
    rest.push(...target.split('/').reverse())
  }
  return real || '/'
}

/** What the link at `path` holds; undefined if it is no link, or nothing is there. */
async function linkTarget(path: string, whole: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ToolError(`${whole}: ${reason(error)}`)
  }
}

/** Whether `path` is `directory` or below it; both real. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}

/** A real path as people write it: from the workspace where it is in there. */
export function shortPath(workspace: string, path: string): string {
  return isWithin(workspace, path) ? relative(workspace, path) || '.' : path
}
