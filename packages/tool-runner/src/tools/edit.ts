import { contentOf } from '../file-kind.js'
import { absolutePath, realTarget, shortPath } from '../paths.js'
import { replaceText } from '../replace.js'
import type { Session } from '../session.js'
import { refuseStale } from '../stale.js'
import { defineTool, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { changeOf } from '../unified-diff.js'
import { writeInPlace } from '../write-file.js'

/** A file is edited in memory. */
const LARGEST_BYTES = 256 * 1024 ** 2

export function editTool(session: Session): Tool {
  return defineTool({
    name: 'Edit',
    description:
      'Replaces text in a file. old_string must be in it exactly once, character for character and without line numbers, or replace_all be true. Line breaks are written as LF, whatever the file has. A relative path is relative to the workspace.',
    readOnly: false,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file' },
        old_string: { type: 'string', description: 'The text to replace' },
        new_string: { type: 'string', description: 'What takes its place' },
        replace_all: { type: 'boolean', description: 'Replace it wherever it is, not just once' },
      },
      required: ['path', 'old_string', 'new_string'],
    },
    async run({ path: name, old_string: oldString, new_string: newString, replace_all: all = false }) {
      const path = await realTarget(absolutePath(session.workspace, name))
      session.policy.checkWrite(path)
      const before = await contentOf({ path, name }, LARGEST_BYTES)
      if (before === undefined) throw new ToolError(`${name}: no such file`)
      refuseStale(session, { path, name }, before)
      const { content, count } = replaceText(before, { oldString, newString, all })
      await writeInPlace({ path, name }, content, before)
      session.seen.saw(path, content)
      const short = shortPath(session.workspace, path)
      const { diff, lines } = await changeOf(short, before, content, session.maxOutput)
      return { status: 'ok', output: `edited ${short}: ${count} ${count === 1 ? 'place' : 'places'}`, summary: lines || 'edited', diff }
    },
  })
}
