import { randomBytes } from 'node:crypto'

/** The word that stands for the session with the latest event. No session has it as its id. */
export const LATEST = 'latest'

/** A new id: the time, so that a listing sorts, and six random digits. */
export function makeSessionId(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T')
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(3).toString('hex')}`
}
