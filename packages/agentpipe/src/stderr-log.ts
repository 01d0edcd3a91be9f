import { closeSync, existsSync, fchmodSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Bytes of the file at most; past them the older half goes. */
const LARGEST = 1024 * 1024

/**
 * Adds lines to the stderr.log beside a session's log, each with the time. Only the user can read it. What can't be written is left: it has been shown.
 */
export function addToStderrLog(log: string, lines: readonly string[], now = new Date()): void {
  if (lines.length === 0 || !existsSync(log)) return
  const path = join(dirname(log), 'stderr.log')
  const text = Buffer.from(lines.map((line) => `${now.toISOString()} ${line}\n`).join(''))
  try {
    const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
    const whole = before.length + text.length <= LARGEST
    const descriptor = openSync(path, whole ? 'a' : 'w', 0o600)
    try {
      fchmodSync(descriptor, 0o600)
      writeSync(descriptor, whole ? text : Buffer.concat([newerHalf(before), text]))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // A full disk, or a session that has been removed meanwhile.
  }
}

function newerHalf(bytes: Buffer): Buffer {
  const half = bytes.subarray(-LARGEST / 2)
  return half.subarray(half.indexOf('\n') + 1)
}
