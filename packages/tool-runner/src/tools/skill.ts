import { dirname } from 'node:path'
import { printable } from '@agentpipe/stage'
import type { Session } from '../session.js'
import { type Skill, skillsOf } from '../skills.js'
import { defineTool, type Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'

const MOST_SKILLS = 100
const LONGEST_DESCRIPTION = 300

/** The description has the index of the skills that there are now; one that comes later can be called all the same. */
export async function skillTool(session: Session): Promise<Tool> {
  const skills = await skillsOf(session.workspace)
  return defineTool({
    name: 'Skill',
    description: `Gives the instructions of a skill: call it before you do what one of them is for. ${indexOf(skills)}`,
    readOnly: true,
    judgesItself: true,
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'The skill' } },
      required: ['name'],
    },
    async run({ name }, call) {
      const { permissions, workspace } = session
      await permissions.obey(call, permissions.policy.skill(name), name)
      const now = await skillsOf(workspace)
      const skill = now.get(name)
      if (skill === undefined) throw new ToolError(`there is no skill ${JSON.stringify(name)}; there are: ${[...now.keys()].join(', ') || 'none'}`)
      await permissions.obey(call, permissions.policy.read('Skill', skill.path), skill.path)
      return { status: 'ok', output: `[files of this skill are in ${dirname(skill.path)}]\n${skill.text}`, summary: name }
    },
  })
}

function indexOf(skills: ReadonlyMap<string, Skill>): string {
  if (skills.size === 0) return 'There are none now.'
  const lines = [...skills.values()].slice(0, MOST_SKILLS).map(({ name, description }) => `- ${oneLine(name)}: ${oneLine(description)}`)
  const more = skills.size - lines.length
  return `There are:\n${lines.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`
}

function oneLine(text: string): string {
  const short = text.trim().replace(/\s+/g, ' ')
  return printable(short.length > LONGEST_DESCRIPTION ? `${short.slice(0, LONGEST_DESCRIPTION)}...` : short)
}
