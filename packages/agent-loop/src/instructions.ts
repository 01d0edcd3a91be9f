import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Diagnose, printable } from '@agentpipe/stage'
import { type ContextFile, readContextFile } from './context-file.js'

/** Names of files with instructions for agents: of those in one directory the first that says something counts. */
const NAMES = ['AGENTS.md', 'CLAUDE.md']

/** What says nothing but that the other one is to be read. */
const REFERENCE = /^@(?:\.\/)?(?:AGENTS|CLAUDE)\.md$/

/** All of them together, in characters. */
const MOST = 256 * 1024

export interface Place {
  /** Where the project begins. */
  readonly root: string
  /** In it, where we work. */
  readonly directory: string
}

/**
 * What AGENTS.md and CLAUDE.md say: the user's own for all projects, then those of the project from its root down to the directory where we work. The nearest
 * comes last, and goes before the others. Empty where there is none.
 */
export function instructions(place: Place | undefined, diagnose: Diagnose): string {
  const seen = new Set<string>()
  const parts: string[] = []
  let room = MOST
  const add = (path: string, file: ContextFile | undefined): boolean => {
    if (file === undefined) return false
    const text = file.text.trim()
    if (text === '' || REFERENCE.test(text)) return false
    if (seen.has(file.realPath) || seen.has(text)) return true
    seen.add(file.realPath).add(text)
    if (text.length > room) diagnose(`${path} is left out of the system prompt: there are more than ${MOST / 1024} Ki characters of instructions`)
    else parts.push(`## ${printable(path)}\n\n${text}`)
    room -= Math.min(room, text.length)
    return true
  }
  for (const path of globalFiles()) if (add(path, readContextFile(path, undefined, diagnose))) break
  const inside = place && realpathSync(place.root)
  for (const directory of place === undefined ? [] : directories(place)) {
    for (const name of NAMES) if (add(join(directory, name), readContextFile(join(directory, name), inside, diagnose))) break
  }
  if (parts.length === 0) return ''
  return [
    '# Instructions of the user and the project',
    'Where they contradict each other the later ones count; what the user says in the conversation counts before all of them.',
    ...parts,
  ].join('\n\n')
}

/** Of these the first that is there counts. */
function globalFiles(): string[] {
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return [join(config, 'agentpipe', 'AGENTS.md'), join(homedir(), '.claude', 'CLAUDE.md')]
}

/** From the root of the project down to where we work. */
function directories({ root, directory }: Place): string[] {
  const list: string[] = []
  for (let each = directory; ; each = dirname(each)) {
    list.unshift(each)
    if (each === root || dirname(each) === each) return list
  }
}
