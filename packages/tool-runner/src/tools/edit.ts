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
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file' },
        old_string: { type: 'string', description: 'The text to replace' },
        new_string: { type: 'string', description: 'What takes its place' },
        replace_all: { type: 'boolean', description: 'Replace it wherever it is, not just once' },
        edits: {
          type: 'array',
          description: 'In place of old_string and new_string: several changes, one after the other, all of them or none',
          minItems: 1,
          items: {
            type: 'object',
            properties: { old_string: { type: 'string' }, new_string: { type: 'string' }, replace_all: { type: 'boolean' } },
            required: ['old_string', 'new_string'],
          },
        },
      },
      required: ['path'],
    },
    async run({ path: name, ...given }, call) {
      const changes = changesOf(given)
      const path = await realTarget(absolutePath(session.workspace, name))
      await session.permissions.obey(call, session.permissions.policy.write('Edit', path), path)
      const before = await contentOf({ path, name }, LARGEST_BYTES)
      if (before === undefined) throw new ToolError(`${name}: no such file`)
      refuseStale(session, { path, name }, before)
      const { content, count } = replaceAll(before, changes)
      await session.kept.before(path, before, content)
      await writeInPlace({ path, name }, content, before)
      session.seen.saw(path, content)
      const short = shortPath(session.workspace, path)
      const { diff, lines } = await changeOf(short, before, content, session.maxOutput)
      return { status: 'ok', output: `edited ${short}: ${count} ${count === 1 ? 'place' : 'places'}`, summary: lines || 'edited', diff }
    },
  })
}

/** A change as the model gives it. */
interface Change {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

/** The changes of a call: those of `edits`, or the one that it has members for. */
function changesOf({ old_string, new_string, edits, ...one }: Partial<Change> & { readonly edits?: readonly Change[] }): readonly Change[] {
  if (edits !== undefined) {
    if (old_string === undefined && new_string === undefined) return edits
    throw new ToolError('wrong input: either edits, or old_string and new_string')
  }
  if (old_string === undefined) throw new ToolError('wrong input: old_string is missing; Edit takes path, old_string, new_string, or path, edits')
  if (new_string === undefined) throw new ToolError('wrong input: new_string is missing; Edit takes path, old_string, new_string, or path, edits')
  return [{ ...one, old_string, new_string }]
}

/** Each change in what the one before has made. One that can't be made makes none of them. */
function replaceAll(before: Buffer, changes: readonly Change[]): { readonly content: Buffer; readonly count: number } {
  let content = before
  let count = 0
  for (const [index, { old_string: oldString, new_string: newString, replace_all: all = false }] of changes.entries()) {
    try {
      const replaced = replaceText(content, { oldString, newString, all })
      content = replaced.content
      count += replaced.count
    } catch (error) {
      if (!(error instanceof ToolError) || changes.length === 1) throw error
      throw new ToolError(`edit ${index + 1} of ${changes.length}: ${error.message}; nothing was changed`)
    }
  }
  if (content.equals(before)) throw new ToolError('the edits together change nothing')
  return { content, count }
}
