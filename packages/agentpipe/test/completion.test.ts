import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, shell } from '@agentpipe/testing'
import t from 'tap'

const share = join(root, 'dist/share')
const file = join(share, 'bash-completion/completions/agentpipe')

/** Command lines, cut into words as readline does at blanks, = and :, the last word being the one to complete. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  options: ['agentpipe', '--output'],
  choices: ['agentpipe', '--mode', ''],
  'choices behind =': ['agentpipe', '--mode', '=', ''],
  'choices begun behind =': ['agentpipe', '--mode', '=', 'fu'],
  'values that others may stand beside': ['agentpipe', '--theme', 'd'],
  'a stage, and no blank': ['agentpipe', '--stage', 'tool'],
  'a command in place of a stage': ['agentpipe', '--stage', 'tool-runner', '=', ''],
  'no value': ['agentpipe', '--model', ''],
  'a file': ['agent-loop', '--from', ''],
  'a directory': ['tool-runner', '--workspace', ''],
  verbs: ['/somewhere/event-store', 're'],
  'options of a verb': ['event-store', 'export', '--f'],
  'choices of a verb': ['event-store', 'export', '--format', ''],
  'no verb behind options': ['agentpipe', '--continue', 'un'],
  sessions: ['event-store', 'replay', ''],
  'sessions behind an option': ['event-store', 'replay', '--speed', '2', 'se'],
  'sessions behind an option with =': ['event-store', 'replay', '--speed', '=', '2', 'se'],
  'no second session': ['event-store', 'replay', 'seven', ''],
  'any number of sessions': ['event-store', 'rm', 'seven', 'six', 'se'],
  'a session of an option': ['agentpipe', '--session', 'se'],
  messages: ['resp', 'grep', 'TOOL_R'],
  'messages behind messages': ['resp', 'grep', '-v', 'TEXT', 'USER_'],
  'no options behind --': ['resp', 'grep', '--', '--'],
  shells: ['agentpipe', 'completion', ''],
  'what the shell would expand': ['resp', 'grep', '$(touch hit) `touch hit` *'],
  'an option that there is not': ['resp', '--nosuch', ''],
}

t.test('bash: options, values, verbs, sessions', async (t) => {
  const state = t.testdir()
  const env = { XDG_STATE_HOME: state }
  await shell('for id in seven six; do resp write USER_MESSAGE hi | event-store --session "$id"; done', [], { cwd: state, env })
  // compopt can be called while readline completes only: here it says what it was asked.
  const script = `. "$1"; compopt() { printf '(%s)' "$*"; }
    while IFS=$'\\t' read -r -a COMP_WORDS; do
      COMP_WORDS=("\${COMP_WORDS[@]%_}"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _agentpipe "\${COMP_WORDS[0]}"; echo " \${COMPREPLY[*]}"
    done`
  const input = Object.values(LINES).map((words) => `${words.map((word) => `${word}_`).join('\t')}\n`)
  const { status, stdout, stderr } = await shell(script, [file], { cwd: state, env, input: input.join('') })
  t.match({ status, stderr }, { status: 0, stderr: '' })
  const answers = stdout.toString().split('\n')
  const got = Object.fromEntries(Object.keys(LINES).map((name, index) => [name, answers[index]]))
  const none = '(+o default) '
  t.same(got, {
    options: `${none}--output-schema --output-format`,
    choices: `${none}read-only workspace full`,
    'choices behind =': `${none}read-only workspace full`,
    'choices begun behind =': `${none}full`,
    'values that others may stand beside': ' dark',
    'a stage, and no blank': '(+o default)(-o nospace) tool-runner=',
    'a command in place of a stage': ' ',
    'no value': none,
    'a file': ' ',
    'a directory': '(-o dirnames +o default) ',
    verbs: `${none}replay`,
    'options of a verb': `${none}--format`,
    'choices of a verb': `${none}resp jsonl md`,
    'no verb behind options': ' ',
    sessions: `${none}six seven`,
    'sessions behind an option': `${none}seven`,
    'sessions behind an option with =': `${none}seven`,
    'no second session': none,
    'any number of sessions': `${none}seven`,
    'a session of an option': `${none}seven`,
    messages: `${none}TOOL_RESULT`,
    'messages behind messages': `${none}USER_MESSAGE USER_INPUT`,
    'no options behind --': none,
    shells: `${none}bash zsh fish`,
    'what the shell would expand': none,
    'an option that there is not': none,
  })
  t.notOk(readdirSync(state).includes('hit'))
})

t.test('every executable has its name in bash and fish, and in the file for zsh', async (t) => {
  const names = readdirSync(join(root, 'dist/bin'))
  t.same(readdirSync(join(share, 'bash-completion/completions')).sort(), [...names].sort())
  t.same(readdirSync(join(share, 'fish/vendor_completions.d')).sort(), names.map((name) => `${name}.fish`).sort())
  const zsh = await run('agentpipe', ['completion', 'zsh'])
  t.same(zsh.stdout.toString().split('\n')[0]?.split(' ').slice(1).sort(), [...names].sort())
  t.match(await run('agentpipe', ['completion', 'csh']), { status: 64, stderr: /^agentpipe: completion: expected one of bash, zsh, fish, found "csh"\n$/ })
})

for (const [name, check] of [
  ['bash', ['-n']],
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const) {
  const { error } = spawnSync(name, ['--version'])
  t.test(`${name} takes what is printed for it`, { skip: error !== undefined && `there is no ${name} here` }, async (t) => {
    const path = join(t.testdir({ script: (await run('agentpipe', ['completion', name])).stdout }), 'script')
    t.match(await run(name, [...check, path]), { status: 0, stderr: '' })
  })
}
