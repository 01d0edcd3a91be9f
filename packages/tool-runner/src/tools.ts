import { usage } from '@agentpipe/stage'
import picomatch from 'picomatch'
import type { Session } from './session.js'
import type { Tool } from './tool.js'
import { bashTool } from './tools/bash.js'
import { editTool } from './tools/edit.js'
import { globTool } from './tools/glob.js'
import { grepTool } from './tools/grep.js'
import { jobsTool } from './tools/jobs.js'
import { readTool } from './tools/read.js'
import { skillTool } from './tools/skill.js'
import { todoWriteTool } from './tools/todo-write.js'
import { webFetchTool } from './tools/web-fetch.js'
import { writeTool } from './tools/write.js'

const MAKERS = [readTool, writeTool, editTool, bashTool, jobsTool, globTool, grepTool, todoWriteTool, skillTool, webFetchTool]

/** The tools that are built in, in the order in which they are announced. */
export async function builtInTools(session: Session): Promise<readonly Tool[]> {
  return Promise.all(MAKERS.map((make) => make(session)))
}

/**
 * Which tools `--tools` wants: `Read,Grep,github__*`; all if it isn't given. Throws StageError for a name that can be none: that of nothing in
 * `builtIn`, where no others are to come.
 */
export function wantedTools(list: string | undefined, builtIn: readonly Tool[], othersToCome: boolean): (name: string) => boolean {
  if (list === undefined) return () => true
  const wanted = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const isWanted = picomatch(wanted)
  const unknown = wanted.find((pattern) => !othersToCome && !builtIn.some(({ name }) => picomatch.isMatch(name, pattern)))
  if (unknown !== undefined) throw usage(`--tools: there is no tool ${JSON.stringify(unknown)}: ${builtIn.map(({ name }) => name).join(', ')}`)
  return (name) => wanted.length > 0 && isWanted(name)
}
