import { randomBytes } from 'node:crypto'

/** The word that stands for the session with the latest event. No session has it as its id. */
export const LATEST = 'latest'

/** What an id may look like, for people. */
export const ID_FORM = 'at most 128 of A-Z a-z 0-9 . _ -, no dot first, not "latest"'

/** Whether `text` may be a session's id. It becomes the name of a directory, and comes from frames, so this is where escapes end. */
export function isSessionId(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(text) && text !== LATEST
}

/** A new id: the time, so that a listing sorts, and six random digits. */
export function makeSessionId(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T')
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(3).toString('hex')}`
}
