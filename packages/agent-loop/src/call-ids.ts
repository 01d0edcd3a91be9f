import type { Conversation } from './conversation.js'

/** Ids of this run end in it where earlier ones are not all known: a later run has another one. */
const RUN = `_${Date.now().toString(36)}`

/**
 * The id under which a call goes round the ring: the server's where it is `[A-Za-z0-9_-]+`, at most 64 characters, and new
 * in the session, else one made of it.
 */
export function callId(given: string, conversation: Conversation): string {
  const end = conversation.isPartial ? RUN : ''
  const legal = (given.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64 - end.length) || 'call') + end
  if (!conversation.hasCall(legal)) return legal
  for (let number = 2; ; number++) {
    const id = `${legal.slice(0, 63 - String(number).length)}_${number}`
    if (!conversation.hasCall(id)) return id
  }
}
