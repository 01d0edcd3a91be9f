/** Ends us by a signal: so that who waits for us, a shell loop above all, sees that it was one. */
export function raise(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
