import { readdirSync, readFileSync } from 'node:fs'
import { shell } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { bash, capture, type Response, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

/** The line of design.md, as it stands; `$1` is the prompt, `$2` what tool-runner is to have. Each stage's status is printed last. */
const LINE = `mkfifo back
resp write USER_INPUT "$1" | resp merge - back |
  agent-loop --provider replay --from model.resp | tool-runner $2 | event-store --session s | tee -i back | resp-render >screen
echo "\${PIPESTATUS[*]}"; rm back`

/** The cheap form: cat in place of merge. */
const CHEAP = `mkfifo back
resp write USER_INPUT "$1" >prompt
cat prompt back |
  agent-loop --provider replay --from model.resp --once | tool-runner $2 | event-store --session s | tee -i back | resp-render >screen
echo "\${PIPESTATUS[*]}"; rm back`

const MIB = 1024 * 1024
const answer = 'All of it is done.'
const final: Response = { text: answer }
const result20 = bash(`head -c ${20 * MIB} /dev/zero | tr '\\0' x`)
const text20: Response = { text: [...Array.from({ length: 20 * 16 }, () => `${'y'.repeat(65_535)}\n`), answer] }

/** What is large in both ways at once is also large in each of them, and the two forms differ only in where the input comes from: `make soak` asks for all. */
const everything = process.env.LINE_TIMES !== undefined

const cases: Record<string, { responses: Response[]; calls: number; runner?: string; logged?: number }> = {
  'no tool call': { responses: [final], calls: 0 },
  'one tool call': { responses: [bash('echo hello'), final], calls: 1 },
  '50 tool calls': { responses: [...Array.from({ length: 10 }, () => bash(...Array.from({ length: 5 }, (_, n) => `echo ${n}`))), final], calls: 50 },
  'a 20 MiB tool result': { responses: [result20, final], calls: 1, runner: '--max-output=64m', logged: 20 * MIB },
  'a 20 MiB text before STOP': { responses: [text20], calls: 0, logged: 20 * MIB },
  'both at once': { responses: [result20, text20], calls: 1, runner: '--max-output=64m', logged: 40 * MIB },
}

for (const [form, line] of Object.entries({ 'the line': LINE, 'the cheap form': CHEAP })) {
  for (const [name, { responses, calls, runner = '', logged = 0 }] of Object.entries(cases)) {
    if ((logged === 20 * MIB || (line === CHEAP && calls === 50)) && !everything) continue
    t.test(`${form}: ${name}`, async (t) => {
      const workspace = new Workspace(t, capture(...responses))
      const ended = await runLine(workspace, line, runner)
      t.equal(ended.stdout.toString().trim(), line === LINE ? '0 0 0 0 0 0 0' : '0 0 0 0 0 0', 'every status is 0')
      t.equal(ended.stderr, '')
      checkLog(t, workspace, calls, logged)
      t.ok(readFileSync(workspace.path('screen'), 'utf8').trimEnd().endsWith(answer), 'the screen ends with the answer')
      t.same(await leftovers(workspace), [])
    })
  }
}

/** `make soak` asks for more. */
const times = Number(process.env.LINE_TIMES ?? 2)

t.test(`the line ${times} times in a row`, async (t) => {
  for (let time = 0; time < times; time++) {
    const workspace = new Workspace(t, capture(bash('echo one', 'echo two'), bash('head -c 200000 /dev/zero | tr "\\0" z'), final))
    const ended = await runLine(workspace, LINE, '')
    if (ended.stdout.toString().trim() !== '0 0 0 0 0 0 0' || ended.stderr !== '') t.fail(`time ${time}`, ended)
    checkLog(t, workspace, 3, 0)
  }
})

function runLine(workspace: Workspace, line: string, runner: string) {
  return shell(line, ['fix the failing test', runner], { cwd: workspace.directory, env: workspace.environment, timeout: 120_000 })
}

function checkLog(t: Test, workspace: Workspace, calls: number, bytes: number): void {
  const log = readFileSync(findLog(workspace))
  const types = log
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /"type":"(\w+)"/.exec(line)?.[1])
  t.equal(types.filter((type) => type === 'tool_call').length, calls, 'every call is in the log')
  t.equal(types.filter((type) => type === 'tool_result').length, calls, 'every result is in the log')
  t.equal(types[0], 'hello')
  t.equal(types.at(-1), 'stop')
  t.ok(log.length > bytes, 'nothing was cut on the way to the log')
}

function findLog(workspace: Workspace): string {
  const project = readdirSync(workspace.path('state/agentpipe/projects'))[0] as string
  return workspace.path(`state/agentpipe/projects/${project}/s/events.jsonl`)
}
