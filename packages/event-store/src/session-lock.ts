import { basename } from 'node:path'
import { lockDirectory } from '@agentpipe/stage'

export { isLocked as isBeingWritten } from '@agentpipe/stage'

/** Makes this process the only writer of a session; gives the function that ends it. Throws StageError (75) where a live process holds it. */
export function lockSession(directory: string): () => void {
  return lockDirectory(directory, (holder) => `session ${basename(directory)} is being written by ${holder}: wait for it to end, or give another --session`)
}
