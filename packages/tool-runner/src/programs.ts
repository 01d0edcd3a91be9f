import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** The path of a program in PATH. A relative entry of PATH doesn't count: the workspace must not choose what we run. */
export function programPath(name: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(':').filter(isAbsolute)
  return directories.map((directory) => join(directory, name)).find(isProgram)
}

/** The path of a program that is installed beside this executable. */
export function programBesideUs(name: string): string | undefined {
  const path = join(dirname(realpathSync(process.argv[1] as string)), name)
  return isProgram(path) ? path : undefined
}

/** Whether there is a file that may be executed. */
export function isProgram(path: string): boolean {
  try {
    // Most places in PATH have none, which is not to cost an exception each.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
