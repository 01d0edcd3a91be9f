/** The working directory; undefined where it has been removed. */
export function currentDirectory(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
