import { randomBytes } from 'node:crypto'

/** A new session's id: readable, in the order of time, `20261201-093000-1a2b`. In UTC. */
export function makeSessionId(now: Date): string {
  const time = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  return `${time}-${randomBytes(2).toString('hex')}`
}
