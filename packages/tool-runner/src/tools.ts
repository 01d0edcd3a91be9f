import { usage } from '@agentpipe/stage'
import type { Session } from './session.js'
import type { Tool } from './tool.js'
import { bashTool } from './tools/bash.js'
import { editTool } from './tools/edit.js'
import { globTool } from './tools/glob.js'
import { grepTool } from './tools/grep.js'
import { jobsTool } from './tools/jobs.js'
import { readTool } from './tools/read.js'
import { todoWriteTool } from './tools/todo-write.js'
import { writeTool } from './tools/write.js'

const MAKERS = [readTool, writeTool, editTool, bashTool, jobsTool, globTool, grepTool, todoWriteTool]

/** The tools by name, in the order in which they are announced; only those of `list` (`Read,Grep`) if it is given. Throws StageError for a name that is none. */
export function toolsOf(session: Session, list: string | undefined): Map<string, Tool> {
  const all = new Map(MAKERS.map((make) => make(session)).map((tool) => [tool.name, tool]))
  if (list === undefined) return all
  const wanted = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = wanted.find((name) => !all.has(name))
  if (unknown !== undefined) throw usage(`--tools: there is no tool ${JSON.stringify(unknown)}: ${[...all.keys()].join(', ')}`)
  return new Map([...all].filter(([name]) => wanted.includes(name)))
}
