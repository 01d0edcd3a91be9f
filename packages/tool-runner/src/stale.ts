import type { NamedPath } from './file-kind.js'
import { NumberedLines } from './numbered-lines.js'
import type { Session } from './session.js'
import { ToolError } from './tool-error.js'

/**
 * Throws ToolError when the model knows the file with another content than it has now: somebody else has changed it. The error shows what
 * is in it, so that the next attempt is made in knowledge of that.
 */
export function refuseStale(session: Session, { path, name }: NamedPath, content: Buffer): void {
  if (!session.seen.isStale(path, content)) return
  session.seen.saw(path, content)
  const lines = new NumberedLines({ offset: 1, limit: Infinity, bytes: session.maxOutput })
  lines.push(content)
  const problem = `${name} has changed since it was read, and nothing was written`
  throw new ToolError(`${problem}. Now it is:\n${lines.finish().text}`, 'error', problem)
}
