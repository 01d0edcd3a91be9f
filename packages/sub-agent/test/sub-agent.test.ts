import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame } from '@agentpipe/frame'
import { eventually, fieldsOf, frames, root, testEnvironment } from '@agentpipe/testing'
import t from 'tap'

interface Test {
  teardown(work: () => void): void
}

/** Stands in for agentpipe: notes what it was given, and does what the prompt says as a line of shell. */
const STAND_IN = `#!/bin/bash
prompt=$(cat)
printf '%s\\n' "$@" >"$NOTES/arguments.$$"
env >"$NOTES/environment.$$"
say() { printf '{"text":"%s","stop_reason":"%s","usage":{"input_tokens":3,"output_tokens":4,"cache_read_tokens":0,"cache_creation_tokens":0},"errors":[]}\\n' "$1" "\${2-end_turn}"; }
eval "$prompt"
`

/** sub-agent, fed by hand, with a stand-in for agentpipe in its PATH. */
class Stage {
  readonly directory = mkdtempSync(join(tmpdir(), 'sub-agent-test-'))
  readonly process: ChildProcess
  readonly ended: Promise<{ status: number | null; stderr: string }>
  #output: Buffer[] = []
  #stderr = ''

  constructor(t: Test, args: readonly string[] = [], env: Record<string, string> = {}) {
    writeFileSync(join(this.directory, 'agentpipe'), STAND_IN)
    chmodSync(join(this.directory, 'agentpipe'), 0o755)
    const environment = testEnvironment({ PATH: `${this.directory}:${root}/dist/bin:${process.env.PATH}`, NOTES: this.directory, ...env })
    const child = spawn('sub-agent', args, { env: environment, cwd: this.directory, stdio: 'pipe' })
    child.stdout.on('data', (chunk) => this.#output.push(chunk))
    child.stderr.on('data', (text) => {
      this.#stderr += text
    })
    child.stdin.on('error', () => {})
    this.process = child
    this.ended = once(child, 'close').then(([status]) => ({ status, stderr: this.#stderr }))
    t.teardown(() => {
      child.kill('SIGKILL')
      rmSync(this.directory, { recursive: true, force: true })
    })
  }

  get sent(): string[][] {
    return fieldsOf(Buffer.concat(this.#output))
  }

  all(type: string): string[][] {
    return this.sent.filter(([first]) => first === type)
  }

  send(...list: readonly (readonly string[])[]): void {
    this.process.stdin?.write(Buffer.concat(list.map((fields) => encodeFrame(fields))))
  }

  end(): void {
    this.process.stdin?.end()
  }

  until(type: string, count = 1): Promise<boolean> {
    return eventually(() => this.all(type).length >= count, 15_000)
  }

  notes(name: string): string[] {
    return readdirSync(this.directory)
      .filter((file) => file.startsWith(name))
      .map((file) => readFileSync(join(this.directory, file), 'utf8'))
  }

  /** Command lines of what still runs for it. */
  get running(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          if (!readFileSync(`/proc/${name}/environ`, 'latin1').includes(`NOTES=${this.directory}`)) return []
          return [readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()]
        } catch {
          return []
        }
      })
      .filter((line) => line !== '')
  }
}

const HELLO = ['HELLO', '1', 's1']
const call = (id: string, prompt: string, description?: string) => [
  'TOOL_CALL',
  'SubAgent',
  id,
  JSON.stringify({ prompt, ...(description === undefined ? {} : { description }) }),
]

t.test('a call is answered at once, and its result comes when the agent has ended', async (t) => {
  const stage = new Stage(t, ['--', '--model=m x', '--mode', 'read-only'])
  stage.send(HELLO, ['USER_MESSAGE', 'go'], call('c1', 'sleep 0.3; say "it’s found"', 'look'))
  await stage.until('SUB_AGENT_RESULT')
  stage.send(['STOP', 'end_turn'])
  stage.end()
  t.match(await stage.ended, { status: 0, stderr: '' })
  t.match(stage.sent, [
    ['TOOL_DEF', 'SubAgent', /./, /"prompt"/, 'read_only', 'false'],
    HELLO,
    ['USER_MESSAGE', 'go'],
    ['TOOL_CALL', 'SubAgent', 'c1'],
    ['TOOL_RESULT', 'c1', 'SubAgent', /^The agent s1\.c1 has started/, 'status', 'ok', 'summary', 'look', 'session_id', 's1.c1'],
    ['USAGE', '3', '4', '0', '0', 'kind', 'sub_agent'],
    ['SUB_AGENT_RESULT', 's1.c1', 'ok', 'it’s found', 'tool_use_id', 'c1', 'description', 'look', 'input_tokens', '3', 'output_tokens', '4'],
    ['STOP', 'end_turn'],
  ])
  t.same(stage.notes('arguments'), ['--model=m x\n--mode\nread-only\n--output-format=json\n--session=s1.c1\n'], 'the prompt is no argument')
})

t.test('at most --max run side by side; a session for each call, whatever its id', async (t) => {
  const stage = new Stage(t, ['--max', '2'])
  const task = 'ls "$NOTES" | grep -c "^arguments" >"$NOTES/seen.$$"; sleep 0.4; say done; rm "$NOTES/arguments.$$"'
  stage.send(HELLO, call('c1', task), call('c2', task), call('c3', task), call('c1', task), call('x'.repeat(200), task))
  t.ok(await stage.until('SUB_AGENT_RESULT', 5))
  stage.send(['STOP', 'end_turn'])
  stage.end()
  t.match(await stage.ended, { status: 0 })
  for (const seen of stage.notes('seen')) t.ok(Number(seen) <= 2, seen)
  const sessions = stage.all('SUB_AGENT_RESULT').map(([, session]) => session)
  t.equal(new Set(sessions).size, 5)
  t.same(new Set(sessions), new Set(stage.all('TOOL_RESULT').map((fields) => fields.at(-1))))
  t.match(stage.all('TOOL_RESULT')[2], { 3: /waits until one of the 2 that run has ended/ })
})

t.test('what goes wrong is told', async (t) => {
  const stage = new Stage(t)
  const wrong = [
    '{}',
    '[]',
    '{"prompt":" "}',
    '{"prompt":["x"]}',
    '{"prompt":"x","description":1}',
    '{"prompt":"x","model":"m"}',
    '{"prompt":"a\\u0000b"}',
    'no JSON',
  ]
  stage.send(HELLO, ...wrong.map((input, index) => ['TOOL_CALL', 'SubAgent', `w${index}`, input]))
  stage.send(
    call('c1', 'say "half of it" max_turns; exit 1'),
    call('c2', 'echo "agentpipe: no model to ask" >&2; exit 78'),
    call('c3', `echo '{"text":"","stop_reason":"error","errors":["overloaded"]}'; exit 75`),
    call('c4', 'kill -9 $$'),
    call('c5', 'yes | head -c 20000000; say late'),
    call('c6', 'say ""'),
  )
  t.ok(await stage.until('SUB_AGENT_RESULT', 6))
  stage.send(['STOP', 'end_turn'])
  stage.end()
  t.match(await stage.ended, { status: 0, stderr: '' })
  t.match(
    stage
      .all('TOOL_RESULT')
      .slice(0, wrong.length)
      .map(([, , , output, , status]) => [status, output]),
    [/^prompt/, /^prompt/, /^prompt/, /^prompt/, /^description/, /^model: there is no such/, /NUL/, /^prompt/].map((text) => ['error', text]),
  )
  const results = Object.fromEntries(stage.all('SUB_AGENT_RESULT').map(([, session = '', status, text]) => [session, [status, text]]))
  t.match(results['s1.c1'], ['error', 'half of it\n\nThe agent failed (status 1).'])
  t.match(results['s1.c2'], ['error', 'The agent failed (status 78).\nagentpipe: no model to ask'])
  t.match(results['s1.c3'], ['error', 'The agent failed (status 75).\noverloaded'])
  t.match(results['s1.c4'], ['error', 'The agent failed (SIGKILL).'])
  t.equal(results['s1.c5']?.[0], 'error')
  t.match(results['s1.c6'], ['ok', '(it said nothing)'])
})

t.test('cancelled with the turn, or one alone; those that wait too', async (t) => {
  const stage = new Stage(t, ['--max', '2'])
  const task = `trap 'say partly interrupted; exit 130' INT; sleep 77.25 & wait`
  stage.send(HELLO, call('c1', task), call('c2', `trap '' INT; sleep 78.25`), call('c3', task))
  t.ok(await eventually(() => stage.running.filter((line) => line.startsWith('sleep')).length === 2, 10_000))
  stage.send(['INTERRUPT', 'n1', 'call', 'c1'])
  t.ok(await stage.until('SUB_AGENT_RESULT', 1))
  t.match(stage.all('SUB_AGENT_RESULT')[0], ['SUB_AGENT_RESULT', 's1.c1', 'cancelled', 'partly\n\nThe agent was interrupted.'])
  t.ok(await eventually(() => stage.running.filter((line) => line === 'sleep 77.25').length === 1, 10_000), 'the one that waited runs')
  stage.send(['INTERRUPT', 'n2'])
  t.ok(await stage.until('SUB_AGENT_RESULT', 3), 'one that does not listen is killed')
  t.same(new Set(stage.all('SUB_AGENT_RESULT').map(([, , status]) => status)), new Set(['cancelled']))
  stage.send(['STOP', 'interrupted'])
  stage.end()
  t.match(await stage.ended, { status: 0 })
  t.ok(await eventually(() => stage.running.length === 0, 10_000), 'nothing is left, the reaper neither')
})

t.test('nothing is left, whoever ends first', async (t) => {
  const task = 'sleep 79.25 & wait'
  for (const [how, status] of [
    ['end', 69],
    ['SIGTERM', null],
    ['SIGKILL', null],
  ] as const) {
    const stage = new Stage(t)
    stage.send(HELLO, call('c1', task))
    t.ok(await eventually(() => stage.running.includes('sleep 79.25'), 10_000))
    if (how === 'end') stage.end()
    else stage.process.kill(how)
    t.match(await stage.ended, { status }, how)
    t.ok(await eventually(() => stage.running.length === 0, 10_000), how)
  }
})

t.test('--depth bounds how deep they go, by the environment of each', async (t) => {
  const stage = new Stage(t, ['--depth', '2'], { ANTHROPIC_API_KEY: 'k-1', AGENTPIPE_AGENTPIPE_CONTINUE: '1' })
  stage.send(call('c1', 'say done'))
  stage.end()
  t.match(await stage.ended, { status: 0, stderr: '' }, 'a plain filter finishes what it has begun')
  t.match(stage.all('SUB_AGENT_RESULT'), [['SUB_AGENT_RESULT', /./, 'ok', 'done']])
  const [environment = ''] = stage.notes('environment')
  t.match(environment, /^AGENTPIPE_DEPTH=1$/m)
  t.match(environment, /^ANTHROPIC_API_KEY=k-1$/m, 'its model needs the key')
  t.notMatch(environment, /CONTINUE/)
  for (const [args, env] of [
    [['--depth', '2'], { AGENTPIPE_DEPTH: '2' }],
    [['--depth', '0'], {}],
    [[], { AGENTPIPE_DEPTH: 'junk' }],
  ] as const) {
    const deep = new Stage(t, args, env)
    const input = [HELLO, call('c1', 'say done'), ['STOP', 'end_turn']]
    deep.send(...input)
    deep.end()
    t.match(await deep.ended, { status: 0 })
    t.same(deep.sent, input, 'no tool is defined, and the call is somebody else’s')
  }
})

t.test('a runner before it that has a SubAgent keeps it; what is not its own passes byte for byte', async (t) => {
  const stage = new Stage(t)
  const input = frames(['TOOL_DEF', 'SubAgent', 'mine', '{}'], ['NEW_TYPE', '\r\n\0'], ['TEXT', 'é'])
  stage.process.stdin?.write(input)
  stage.send(HELLO, call('c1', 'say done'), ['STOP', 'end_turn'])
  stage.end()
  t.match(await stage.ended, { status: 0, stderr: '' })
  t.same(
    stage.sent.map(([type]) => type),
    ['TOOL_DEF', 'NEW_TYPE', 'TEXT', 'HELLO', 'TOOL_CALL', 'STOP'],
  )
})
