/** What a session's id may look like, for people. */
export const SESSION_ID_FORM = 'at most 128 of A-Z a-z 0-9 . _ -, no dot first, not "latest"'

/** Whether `text` may be a session's id. It becomes the name of a directory, and comes from frames, so this is where escapes end. `latest` stands for another. */
export function isSessionId(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(text) && text !== 'latest'
}
