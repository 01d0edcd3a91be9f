import { join } from 'node:path'
import { selectFiles } from '../glob.js'
import { shortPath } from '../paths.js'
import { ripgrep } from '../ripgrep.js'
import { searchRoot } from '../search-root.js'
import type { Session } from '../session.js'
import { defineTool, type Outcome, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'

export function globTool(session: Session): Tool {
  return defineTool({
    name: 'Glob',
    description:
      'Lists files by name, sorted, from the workspace: *.ts at any depth, src/*.ts in one directory, src/**/*.ts below it. Files that .gitignore and the like leave out are not listed.',
    readOnly: true,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'The glob' },
        path: { type: 'string', description: 'Directory to search; the workspace if left out' },
      },
      required: ['pattern'],
    },
    async run({ pattern, path }, call) {
      const { directory, args } = selectFiles(pattern)
      const root = await searchRoot(session.workspace, path, directory)
      if (root === undefined) return none()
      const { permissions, workspace } = session
      await permissions.obey(call, permissions.policy.read('Glob', root.path), root.path)
      if (!root.isDirectory) throw new ToolError(`${path ?? directory} is not a directory`)
      const search = { args: ['--files', ...args, '--', './'], cwd: root.path, limit: session.maxOutput, timeoutMs: session.timeoutMs, signal: call.signal }
      const { lines, cut, complaint } = await ripgrep(session, search)
      if (lines.length === 0) return none()
      const prefix = root.path === workspace ? '' : `${shortPath(workspace, root.path)}/`.replace('//', '/')
      const found = lines.map((line) => line.replace(/^\.\//, ''))
      const files = found.filter((line) => permissions.policy.read('Glob', join(root.path, line)).verdict === 'allow').map((line) => prefix + line)
      if (files.length === 0) return none()
      const notes = [cut ? '[and more: narrow the pattern]' : '', complaint && `[${complaint}]`].filter(Boolean)
      return { status: 'ok', output: [...files, ...notes].join('\n'), summary: `${cut ? 'more than ' : ''}${files.length} files` }
    },
  })
}

function none(): Outcome {
  return { status: 'ok', output: '[no files match]', summary: 'no files' }
}
