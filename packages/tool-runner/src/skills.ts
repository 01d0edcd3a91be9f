import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { contentOf } from './file-kind.js'
import { isWithin, realTarget } from './paths.js'
import { isSecret } from './secrets.js'

/** Where skills are, in a project and in the user's home directory. */
const DIRECTORIES = ['.agents/skills', '.claude/skills']
const LARGEST_BYTES = 256 * 1024

export interface Skill {
  readonly name: string
  /** When it is of use. */
  readonly description: string
  /** A real path: that of its SKILL.md. */
  readonly path: string
  /** What to do. */
  readonly text: string
}

/**
 * The skills that there are, by name: those of the workspace and of the directories above it up to the top of its repository, then the user's own. What is no
 * skill (no front matter with a description, a link that leads out of where it is) is left out.
 */
export async function skillsOf(workspace: string): Promise<ReadonlyMap<string, Skill>> {
  const skills = new Map<string, Skill>()
  for (const base of [...(await upToRepository(workspace)), homedir()])
    for (const directory of DIRECTORIES.map((name) => join(base, name)))
      for (const name of (await readdir(directory).catch(() => [])).sort()) {
        const skill = await skillIn(join(directory, name), name, base).catch(() => undefined)
        if (skill !== undefined && !skills.has(skill.name)) skills.set(skill.name, skill)
      }
  return skills
}

/** The workspace and the directories above it that are in the same repository; the workspace alone where there is none. */
async function upToRepository(workspace: string): Promise<readonly string[]> {
  const directories = [workspace]
  for (let directory = workspace; directory !== dirname(directory); directory = dirname(directory)) {
    if (directory !== workspace) directories.push(directory)
    if (await stat(join(directory, '.git')).catch(() => undefined)) return directories
  }
  return [workspace]
}

async function skillIn(directory: string, directoryName: string, base: string): Promise<Skill | undefined> {
  const path = await realTarget(join(directory, 'SKILL.md'))
  // The model is told of it unasked: a link must not show it what it could not read.
  if (!isWithin(await realTarget(base), path) || isSecret(path)) return undefined
  const content = (await contentOf({ path, name: path }, LARGEST_BYTES))?.toString()
  const [whole, front] = /^\ufeff?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(content ?? '') ?? []
  if (content === undefined || whole === undefined || front === undefined) return undefined
  const { parse } = await import('yaml')
  const { name = directoryName, description } = (parse(front, { maxAliasCount: 0 }) ?? {}) as Record<string, unknown>
  if (typeof name !== 'string' || typeof description !== 'string') return undefined
  return { name, description, path, text: content.slice(whole.length).trim() }
}
