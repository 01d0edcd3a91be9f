import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { Place, resultsOf } from './support/tools.js'

function skill(directory: string, name: string, text: string): void {
  mkdirSync(join(directory, name), { recursive: true })
  writeFileSync(join(directory, name, 'SKILL.md'), text)
}

t.test('skills of the workspace, of its repository and of the user', async (t) => {
  const place = new Place(t)
  const below = join(place.workspace, 'packages', 'a')
  mkdirSync(join(place.workspace, '.git'))
  skill(join(below, '.claude/skills'), 'deploy', '---\nname: deploy\ndescription: How to\n  deploy\n---\n\nRun it.\r\nTwice.\n')
  skill(join(place.workspace, '.agents/skills'), 'review', '---\r\ndescription: "Looks\\u001b[31m: twice"\r\n---\r\nLook.')
  skill(join(place.outside, '.claude/skills'), 'deploy', "---\nname: deploy\ndescription: the user's\n---\nOther.")
  skill(join(place.outside, '.claude/skills'), 'mine', "---\nname: my own\ndescription: the user's\n---\nMine.")
  skill(join(below, '.claude/skills'), 'plain', 'no front matter')
  skill(join(below, '.claude/skills'), 'bomb', '---\na: &a [x]\nb: [*a, *a]\ndescription: d\n---\n')
  mkdirSync(join(place.outside, '.ssh'))
  writeFileSync(join(place.outside, '.ssh', 'key'), '---\ndescription: secret\n---\nkey')
  mkdirSync(join(below, '.claude/skills/link'))
  symlinkSync(join(place.outside, '.ssh', 'key'), join(below, '.claude/skills/link/SKILL.md'))
  const calls = ['deploy', 'review', 'my own', 'link', 'no/such'].map((name, index) => ['TOOL_CALL', 'Skill', `c${index}`, JSON.stringify({ name })])
  const input = frames(['HELLO', '1', 's'], ...calls, ['STOP', 'end_turn'])
  const { stdout, stderr } = await place.run(input, ['--workspace', below, '--deny', 'Skill(my *)'], { HOME: place.outside })
  t.equal(stderr, '')
  const [, , description] = fieldsOf(stdout).find(([type, name]) => type === 'TOOL_DEF' && name === 'Skill') ?? []
  t.match(description, /There are:\n- deploy: How to deploy\n- review: Looks\\x1b\[31m: twice\n- my own: the user's$/)
  t.match(
    resultsOf(stdout).sort((a, b) => (a.id < b.id ? -1 : 1)),
    [
      { status: 'ok', output: `[files of this skill are in ${below}/.claude/skills/deploy]\nRun it.\r\nTwice.` },
      { status: 'ok', output: /Look\.$/ },
      { status: 'denied', output: 'denied by deny Skill(my *)' },
      { status: 'error', output: 'there is no skill "link"; there are: deploy, review, my own' },
      { status: 'error', output: /there is no skill "no\/such"/ },
    ],
  )
})
