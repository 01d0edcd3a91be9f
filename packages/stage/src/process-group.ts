/** Sends a signal to every process of a group. False where there is none left, or none that we may signal. */
export function killGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}
