import { writeSync } from 'node:fs'
import { pause } from './diagnostics.js'

/** Writes all of `bytes` to a descriptor, waiting as long as it takes, EAGAIN too. Throws what the system says. */
export function writeAll(descriptor: number, bytes: Buffer): void {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      pause(1)
    }
  }
}
