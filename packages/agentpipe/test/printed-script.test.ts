import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, frames, root, run } from '@agentpipe/testing'
import t, { type Test } from 'tap'
import { agent, inside } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const model = capture(bash('echo from the tool'), { text: 'Said.' })

/** What may be chosen independently: words of the command line. The first of each is: nothing. */
const CHOICES: readonly (readonly (readonly string[])[])[] = [
  [[], ['--output-format=text'], ['--output-format=json'], ['--output-format=stream-json']],
  [[], ['--session=new'], ['--session=old'], ['--continue']],
  [[], ['--record=all of it.resp'], ['--input-format=stream-json'], ['--pipeline=mine']],
  [[], ["--stage=tool-runner=tee 'seen' | tool-runner"], ['--on=box'], ['--without=event-store']],
  [[], ['--before=resp-render=cat', '--before=resp-render=cat'], ['--after=event-store=cat; exit 3'], ['--after=tool-runner=echo "said" >&2; exec cat']],
  [[], ['--mode=read-only'], ['--width=40', '--color=always'], ["--append-system=it's $HOME `x`\n", '--no-context']],
]

/** Rows of choices in which each pair of two choices stands at least once, found greedily. */
function pairwise(sizes: readonly number[]): number[][] {
  const missing = new Set<string>()
  const pairs = (row: readonly number[]) => row.flatMap((a, i) => row.slice(i + 1).map((b, j) => `${i}=${a} ${i + 1 + j}=${b}`))
  const all = sizes.reduce<number[][]>((rows, size) => rows.flatMap((row) => Array.from({ length: size }, (_, value) => [...row, value])), [[]])
  for (const row of all) for (const pair of pairs(row)) missing.add(pair)
  const rows: number[][] = []
  while (missing.size > 0) {
    let best: number[] = []
    let most = 0
    for (const row of all) {
      const count = pairs(row).filter((pair) => missing.has(pair)).length
      if (count > most) [best, most] = [row, count]
    }
    for (const pair of pairs(best)) missing.delete(pair)
    rows.push(best)
  }
  return rows
}

/** `make soak` asks for every pair; else each choice stands in one run. */
const rows = process.env.SCRIPT_PAIRS === 'all' ? pairwise(CHOICES.map((list) => list.length)) : [0, 1, 2, 3].map((n) => CHOICES.map((_, at) => (n + at) % 4))

const noShellcheck = (await run('shellcheck', ['--version'])).status !== 0

for (const [index, row] of rows.entries()) {
  const words = row.flatMap((choice, at) => CHOICES[at]?.[choice] ?? [])
  t.test(`the printed script does what agentpipe does: ${JSON.stringify(words)}`, async (t) => {
    const [direct, byHand] = [await prepared(t), await prepared(t)]
    const input = words.includes('--input-format=stream-json') ? '{"type":"user_input","text":"say it"}\n' : ''
    const given = [...words, ...(input === '' ? ["say `it`, it's $HOME"] : [])]
    const ran = await agent(direct, given, { env: environment(direct), input })
    const script = await agent(byHand, [...given, '--print-script'], { env: environment(byHand) })
    t.match(script, { status: 0, stderr: '' })
    writeFileSync(byHand.path('script'), script.stdout)
    const ended = await run(index % 2 === 0 ? 'dash' : 'bash', ['script'], inside(byHand, { env: environment(byHand), input }))
    t.equal(ended.status, ran.status)
    t.same(ended.stderr.split('\n').sort(), ran.stderr.split('\n').sort())
    // Of a run that failed agentpipe has also caught what was said.
    const failed = words.includes('--output-format=json') && ran.status !== 0
    t.equal(withoutTimes(ended.stdout, failed), withoutTimes(ran.stdout, failed))
    if (!words.includes('--without=event-store')) t.same(types(byHand), types(direct), 'the logs tell the same')
    for (const name of ['seen', 'all of it.resp']) t.same(typesIn(byHand, name), typesIn(direct, name), name)
    for (const workspace of [direct, byHand]) t.same(await leftovers(workspace), [])
    if (!noShellcheck) t.equal((await run('shellcheck', [byHand.path('script')])).stdout.toString(), '', 'shellcheck is content with it')
  })
}

/** A directory with a session, a pipeline of its own in its config file, and another machine, which is this one. */
async function prepared(t: Test): Promise<Workspace> {
  const workspace = new Workspace(t, model)
  mkdirSync(workspace.path('stand-ins'))
  writeFileSync(workspace.path('stand-ins/ssh'), '#!/bin/sh\nwhile [ "$1" != box ]; do shift; done\nshift\nexec sh -c "$*"\n')
  chmodSync(workspace.path('stand-ins/ssh'), 0o755)
  const mine = { mode: 'full', after: ['resp-render=cat'], 'max-turns': 5 }
  writeFileSync(workspace.path('config.json'), JSON.stringify({ agentpipe: { pipelines: { mine } } }))
  const old = frames(['HELLO', '1', 'old'], ['USER_MESSAGE', 'before'], ['TEXT', 'Yes.'], ['USAGE', '1', '1', '0', '0'], ['STOP', 'end_turn'])
  t.match(await run('event-store', ['--session', 'old'], inside(workspace, { input: old })), { status: 0 })
  return workspace
}

function environment(workspace: Workspace): Record<string, string> {
  return { AGENTPIPE_CONFIG: workspace.path('config.json'), PATH: `${workspace.path('stand-ins')}:${root}/dist/bin:${process.env.PATH}` }
}

function withoutTimes(output: Buffer, withoutErrors: boolean): string {
  return output
    .toString()
    .replace(/"(ts|duration_ms|cwd|session_id|id)":("[^"]*"|\d+)/g, '')
    .replace(withoutErrors ? /"errors":\[.*?\]/ : /$^/, '')
    .replace(/^ *└ [\d.]+ ?s\n/gm, '')
}

/** What the logs of all sessions have, by type. */
function types(workspace: Workspace): string[] {
  const projects = workspace.path('state/agentpipe/projects')
  return readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('events.jsonl'))
    .flatMap((name) => readFileSync(join(projects, name), 'utf8').match(/"type":"\w+"/g) ?? [])
    .sort()
}

function typesIn(workspace: Workspace, name: string): string[] {
  return existsSync(workspace.path(name)) ? fieldsOf(readFileSync(workspace.path(name))).map(([type]) => type as string) : []
}
