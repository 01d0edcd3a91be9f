import { resolve } from 'node:path'
import { selectFiles } from '../glob.js'
import { shortPath } from '../paths.js'
import { ripgrep } from '../ripgrep.js'
import { searchRoot } from '../search-root.js'
import type { Session } from '../session.js'
import { defineTool, type Outcome, type Tool } from '../tool.js'

const LONGEST_LINE_BYTES = 1000

export function grepTool(session: Session): Tool {
  return defineTool({
    name: 'Grep',
    description:
      'Searches files for a regular expression (that of ripgrep), and gives the lines as file:number:text, sorted by file, from the workspace. Files that .gitignore and the like leave out are not searched.',
    readOnly: true,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'The regular expression' },
        path: { type: 'string', description: 'File or directory to search; the workspace if left out' },
        glob: { type: 'string', description: 'Only files that match it: *.ts, src/**/*.ts; !*.md leaves files out' },
        context: { type: 'integer', minimum: 0, description: 'Lines to show before and after each' },
      },
      required: ['pattern'],
    },
    async run({ pattern, path, glob, context = 0 }, call) {
      const { directory, args } = glob === undefined ? { directory: '.', args: [] } : selectFiles(glob)
      const root = await searchRoot(session.workspace, path, directory)
      if (root === undefined) return none()
      const { permissions } = session
      await permissions.obey(call, permissions.policy.read('Grep', root.path), root.path)
      const search = {
        args: [...lineOptions(context), ...args, `--regexp=${pattern}`, '--', operand(session.workspace, root.path)],
        cwd: session.workspace,
        limit: session.maxOutput,
        timeoutMs: session.timeoutMs,
        signal: call.signal,
      }
      const { lines, cut, complaint } = await ripgrep(session, search)
      const shown = readableLines(lines, (path) => permissions.policy.read('Grep', resolve(session.workspace, path)).verdict === 'allow')
      if (shown.length === 0) return none()
      const notes = [cut ? '[and more: narrow the search]' : '', complaint && `[${complaint}]`].filter(Boolean)
      return { status: 'ok', output: [...shown, ...notes].join('\n'), summary: `${cut ? 'more than ' : ''}${shown.length} lines` }
    },
  })
}

/** The lines of files that may be read, as ripgrep prints them without --null: with NUL it is plain where the path ends. */
function readableLines(lines: readonly string[], mayRead: (path: string) => boolean): string[] {
  const known = new Map<string, boolean>()
  return lines.flatMap((line) => {
    const end = line.indexOf('\0')
    if (end < 0) return [line]
    const path = line.slice(0, end).replace(/^\.\//, '')
    const readable = known.get(path) ?? mayRead(path)
    known.set(path, readable)
    const rest = line.slice(end + 1)
    return readable ? [`${path}${/^\d+-/.test(rest) ? '-' : ':'}${rest}`] : []
  })
}

function lineOptions(context: number): string[] {
  return [
    '--line-number',
    '--with-filename',
    '--null',
    '--no-heading',
    `--max-columns=${LONGEST_LINE_BYTES}`,
    '--max-columns-preview',
    `--context=${Math.min(context, 1000)}`,
  ]
}

/** The path that ripgrep is given, and prints: from the workspace where it is in there, and never to be taken for an option. */
function operand(workspace: string, path: string): string {
  const short = shortPath(workspace, path)
  return short.startsWith('/') ? short : `./${short === '.' ? '' : short}`
}

function none(): Outcome {
  return { status: 'ok', output: '[no lines match]', summary: 'no matches' }
}
