import { readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Diagnose, printable } from '@agentpipe/stage'
import { readContextFile } from './context-file.js'
import { frontMatter } from './front-matter.js'

/** Where skills are, in a project and in the user's home directory. */
const DIRECTORIES = ['.agents/skills', '.claude/skills']

const MOST_SKILLS = 100
const LONGEST_DESCRIPTION = 500

interface Skill {
  readonly name: string
  readonly description: string
  readonly path: string
}

/**
 * The skills that there are, a line each: name, description and the path of its SKILL.md, whose front matter tells them. The project's go before the user's own
 * of the same name. Empty where there are none.
 */
export async function skillsIndex(root: string | undefined, diagnose: Diagnose): Promise<string> {
  const skills = new Map<string, Skill>()
  const home = homedir()
  for (const base of root === undefined || root === home ? [home] : [root, home]) {
    for (const path of DIRECTORIES.flatMap((directory) => skillFiles(join(base, directory)))) {
      const skill = await readSkill(path, base === home ? undefined : realpathSync(base), diagnose)
      if (skill !== undefined && !skills.has(skill.name)) skills.set(skill.name, skill)
    }
  }
  if (skills.size === 0) return ''
  const shown = [...skills.values()].slice(0, MOST_SKILLS)
  if (skills.size > shown.length) diagnose(`${skills.size - shown.length} skills are left out of the system prompt: it names ${MOST_SKILLS}`)
  const lines = shown.map(({ name, description, path }) => `- ${name}: ${description} (${printable(path)})`)
  return ['# Skills', 'Before you do what one of them is for, read its file, and do as it says:', lines.join('\n')].join('\n\n')
}

function skillFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .sort()
      .map((name) => join(directory, name, 'SKILL.md'))
  } catch {
    return []
  }
}

async function readSkill(path: string, inside: string | undefined, diagnose: Diagnose): Promise<Skill | undefined> {
  const front = await frontMatter(readContextFile(path, inside, diagnose)?.text ?? '')
  if (front === undefined) return undefined
  const { name, description } = front
  if (typeof name === 'string' && typeof description === 'string') return { name: oneLine(name), description: oneLine(description), path }
  diagnose(`${path} is left out of the system prompt: its front matter has no name and description`)
  return undefined
}

function oneLine(text: string): string {
  return printable(text.trim().replace(/\s+/g, ' ').slice(0, LONGEST_DESCRIPTION))
}
