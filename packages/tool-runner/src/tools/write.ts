import { contentOf } from '../file-kind.js'
import { absolutePath, realTarget, shortPath } from '../paths.js'
import type { Session } from '../session.js'
import { refuseStale } from '../stale.js'
import { defineTool, type Tool } from '../tool.js'
import { changeOf } from '../unified-diff.js'
import { writeInPlace } from '../write-file.js'

/** A larger file is not overwritten: what is in it could not be put back, nor shown as a diff. */
const LARGEST_BYTES = 256 * 1024 ** 2

export function writeTool(session: Session): Tool {
  return defineTool({
    name: 'Write',
    description:
      'Writes a whole file, exactly as content says; makes the directories above it. A file that is there already is replaced: change a part of it with Edit. A relative path is relative to the workspace.',
    readOnly: false,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file' },
        content: { type: 'string', description: 'All that is to be in it' },
      },
      required: ['path', 'content'],
    },
    async run({ path: name, content: text }, call) {
      const path = await realTarget(absolutePath(session.workspace, name))
      await session.permissions.obey(call, session.permissions.policy.write('Write', path), path)
      const before = await contentOf({ path, name }, LARGEST_BYTES)
      if (before !== undefined) refuseStale(session, { path, name }, before)
      const content = Buffer.from(text)
      await session.kept.before(path, before, content)
      await writeInPlace({ path, name }, content, before)
      session.seen.saw(path, content)
      const short = shortPath(session.workspace, path)
      const { diff, lines } = await changeOf(short, before, content, session.maxOutput)
      const what = before === undefined ? 'made' : 'replaced'
      return { status: 'ok', output: `${what} ${short}: ${content.length} bytes`, summary: lines || `${content.length} bytes`, diff }
    },
  })
}
