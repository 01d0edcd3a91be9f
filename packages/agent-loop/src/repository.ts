import { readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface Repository {
  /** The directory with .git in it. */
  readonly root: string
  /** Undefined where none is checked out. */
  readonly branch: string | undefined
}

/**
 * The git repository that `directory` is in, found without git: a process for it would cost more than all the rest of the start. As with git, one that belongs
 * to somebody else is none: whoever may write to /tmp could otherwise instruct all who work below it.
 */
export function findRepository(directory: string): Repository | undefined {
  for (let root = directory; ; root = dirname(root)) {
    const git = gitDirectory(join(root, '.git'))
    if (git !== undefined) return { root, branch: branchOf(git) }
    if (dirname(root) === root) return undefined
  }
}

/** Where .git is, or the file of that name in a worktree says that it is. */
function gitDirectory(path: string): string | undefined {
  const stats = statsOf(path)
  if (stats?.uid !== process.getuid?.()) return undefined
  if (stats?.isDirectory()) return path
  if (!stats?.isFile() || stats.size > 4096) return undefined
  const [, to] = /^gitdir: (.+)\n?$/.exec(read(path)) ?? []
  return to === undefined ? undefined : resolve(dirname(path), to)
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function branchOf(git: string): string | undefined {
  return /^ref: refs\/heads\/(.+)\n?$/.exec(read(join(git, 'HEAD')))?.[1]
}

function read(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : ''
  } catch {
    return ''
  }
}
