import { execFile } from 'node:child_process'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { stateDirectory } from '@agentpipe/stage'

/** A git worktree of its own for one session, on a branch of its own, agentpipe/SESSION. */
export interface Worktree {
  /** Where in it the work is done. */
  readonly cwd: string
  readonly branch: string
  /** Removes it and its branch, unless there is anything new in it. Gives whether it was kept. */
  finish(): Promise<boolean>
}

/** git's own lock makes the second of two fail: one after the other. */
let turn: Promise<unknown> = Promise.resolve()

/** Makes a worktree of the repository that `directory` is in, at its HEAD. Rejects with what git says. */
export function addWorktree(directory: string, session: string): Promise<Worktree> {
  return inTurn(async () => {
    const git = (...args: string[]) => run(directory, args)
    const prefix = await git('rev-parse', '--show-prefix')
    const start = await git('rev-parse', '--verify', 'HEAD')
    const parent = join(stateDirectory(undefined), 'worktrees')
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    const path = join(realpathSync(parent), session)
    const branch = `agentpipe/${session}`
    await git('worktree', 'add', '--quiet', '-b', branch, path, start)
    const finish = async () => {
      if ((await run(path, ['rev-parse', 'HEAD'])) !== start || (await run(path, ['status', '--porcelain', '--ignored=no'])) !== '') return true
      await git('worktree', 'remove', path)
      await git('branch', '--quiet', '-D', branch)
      return false
    }
    return { cwd: join(path, prefix), branch, finish: () => inTurn(finish) }
  })
}

function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  const done = turn.then(work)
  turn = done.catch(() => {})
  return done
}

/** What git prints, without the LF at its end. */
function run(cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own: Ctrl-C must not leave half a worktree.
    const options = { cwd, detached: true, env: { ...process.env, GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_TERMINAL_PROMPT: '0' } }
    execFile('git', args, options, (error, stdout, stderr) => {
      if (error)
        reject(
          new Error(
            (error as NodeJS.ErrnoException).code === 'ENOENT' ? `there is no git, or no directory ${cwd}` : stderr.trim().split('\n').at(-1) || error.message,
          ),
        )
      else resolve(stdout.replace(/\n$/, ''))
    })
  })
}
