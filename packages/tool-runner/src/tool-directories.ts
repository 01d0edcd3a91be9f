import { readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configPath, type Diagnose, reason, usage } from '@agentpipe/stage'
import { isWithin } from './paths.js'
import { isProgram } from './programs.js'

/** Where a project has tools of its own, from the workspace. */
const PROJECT_DIRECTORY = '.agentpipe/tools'

/**
 * The directories whose programs are tools, real paths: those that the user names, and the one beside the user's config file. A project's own is never
 * among them unless it is named: what somebody has put into a repository must not run because it was cloned. Throws StageError (64).
 */
export function toolDirectories(named: readonly string[], workspace: string, diagnose: Diagnose): readonly string[] {
  const directories = new Set(named.map(namedDirectory))
  const own = realDirectory(join(dirname(configPath()), 'tools'))
  // A config file within the workspace is no sign that its tools are the user's.
  if (own !== undefined && !isWithin(workspace, own)) directories.add(own)
  const project = realDirectory(join(workspace, PROJECT_DIRECTORY))
  if (project !== undefined && !directories.has(project) && programsIn(project).length > 0)
    diagnose(`the project has tools of its own, which are not used: look at them, then --tools-dir ${PROJECT_DIRECTORY} uses them`)
  return [...directories]
}

/** The programs in a directory, in the order of their names. */
export function programsIn(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name))
    .filter(isProgram)
}

function namedDirectory(path: string): string {
  try {
    readdirSync(path)
    return realpathSync(path)
  } catch (error) {
    throw usage(`--tools-dir ${path}: ${reason(error)}`)
  }
}

function realDirectory(path: string): string | undefined {
  try {
    readdirSync(path)
    return realpathSync(path)
  } catch {
    return undefined
  }
}
