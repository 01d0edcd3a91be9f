import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { fieldsOf, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const model = capture(bash('echo from the tool'), { text: 'Said.' })

t.test('a printed script does what agentpipe does, in dash and bash', async (t) => {
  for (const format of ['human', 'text', 'json', 'stream-json']) {
    const workspace = new Workspace(t, model)
    const args = ['--output-format', format, '--session', 'one', 'say it']
    const direct = await agent(new Workspace(t, model), args)
    const script = await agent(workspace, ['--print-script', ...args])
    writeFileSync(workspace.path('script'), script.stdout)
    for (const sh of ['dash', 'bash']) {
      const other = new Workspace(t, model)
      const ended = await run(sh, [workspace.path('script')], inside(other))
      t.equal(ended.status, direct.status, `${format} in ${sh}`)
      t.equal(ended.stderr, direct.stderr)
      t.equal(withoutTimes(ended.stdout), withoutTimes(direct.stdout))
      t.same(await leftovers(other), [])
    }
  }
})

t.test('shellcheck is content with it', { skip: (await run('shellcheck', ['--version'])).status !== 0 && 'no shellcheck here' }, async (t) => {
  const workspace = new Workspace(t, model)
  const sets = [[], ['--continue'], ['--session', '-s1'], ['--output-format', 'stream-json'], ['--record', 'a b', '--stage', "tool-runner=x 'y'"]]
  for (const set of sets) {
    writeFileSync(workspace.path('script'), (await agent(workspace, ['--print-script', ...set, "it's $HOME `x`"])).stdout)
    t.equal((await run('shellcheck', [workspace.path('script')])).stdout.toString(), '')
  }
})

t.test('a stage put in another one’s place sees its frames, and its status counts', async (t) => {
  const workspace = new Workspace(t, model)
  writeFileSync(workspace.path('runner'), '#!/bin/sh\ntee seen | tool-runner\n')
  chmodSync(workspace.path('runner'), 0o755)
  const ended = await agent(workspace, ['--stage', 'tool-runner=./runner', 'say it'])
  t.equal(ended.status, 0)
  t.same(fieldsOf(readFileSync(workspace.path('seen')))[0]?.[0], 'HELLO')
  t.ok(logged(workspace).some(({ content }) => content === 'from the tool\n' || content === 'from the tool'))

  const failing = await agent(workspace, ['--stage', 'tool-runner=exit 3', 'say it'])
  t.equal(failing.status, 3)
  t.match(failing.stderr, 'agentpipe: tool-runner failed first, with status 3')
})

t.test('stages added in front of and behind another', async (t) => {
  const workspace = new Workspace(t, model)
  const ended = await agent(workspace, ['--before', 'event-store=tee before', '--after', 'event-store=tee after', 'say it'])
  t.equal(ended.status, 0)
  t.same(readFileSync(workspace.path('before')), readFileSync(workspace.path('after')))
})

t.test('--record gives what can be replayed', async (t) => {
  const workspace = new Workspace(t, model)
  const ended = await agent(workspace, ['--record', 'a session.resp', 'say it'])
  const replayed = await shell('resp-render <"a session.resp"', [], inside(workspace))
  t.equal(replayed.stdout.toString(), ended.stdout.toString())
})

t.test('a stage that ends too early is named', async (t) => {
  const ended = await agent(new Workspace(t, model), ['--stage', 'tool-runner=true', 'say it'])
  t.match(ended, { status: 69, stderr: 'agentpipe: the ring was cut: tool-runner was the first stage to end\n' })
})

t.test('a record that cannot be written is refused before anything is asked', async (t) => {
  const workspace = new Workspace(t, model)
  const ended = await agent(workspace, ['--record', '/dev/null/none', 'say it'])
  t.match(ended, { status: 73, stderr: /^agentpipe: cannot write \/dev\/null\/none: \w.*\n$/ })
  t.equal(ended.stdout.toString(), '')
})

t.test('a reader that leaves, and no reader at all', async (t) => {
  const workspace = new Workspace(t, capture(bash('seq 100000'), { text: Array.from({ length: 50_000 }, (_, n) => `line ${n}\n`) }))
  const line = 'agentpipe --provider replay --from model.resp go 2>said | head -1; echo ${PIPESTATUS[0]}; cat said'
  t.equal((await shell(line, [], inside(workspace))).stdout.toString(), '> go\n141\n')
  t.same(await leftovers(workspace), [])
  const closed = await shell('agentpipe --provider replay --from model.resp go >&-', [], inside(workspace))
  t.match(closed, { status: 74, stderr: 'agentpipe: standard output is closed\n' })
})

t.test('names and commands that are wrong', async (t) => {
  const workspace = new Workspace(t, model)
  t.match(await agent(workspace, ['--stage', 'renderer=x', 'p']), {
    status: 64,
    stderr: 'agentpipe: there is no stage "renderer": agent-loop, tool-runner, sub-agent, event-store, resp-render\n',
  })
  t.match(await agent(workspace, ['--stage', 'tool-runner', 'p']), {
    status: 64,
    stderr: 'agentpipe: --stage: expected NAME=COMMAND, NAME being agent-loop, tool-runner, sub-agent, event-store, resp-render, found "tool-runner"\n',
  })
  t.match(await agent(workspace, ['--stage', 'tool-runner=no-such-command', 'p']), { status: 127, stderr: /tool-runner failed first, with status 127/ })
})

function withoutTimes(output: Buffer): string {
  return output
    .toString()
    .replace(/"(ts|duration_ms)":("[^"]*"|\d+)/g, '')
    .replace(/"cwd":"[^"]*"/g, '')
}

t.test('sub-agents have the same stages and rules; a captured model has none', async (t) => {
  const workspace = new Workspace(t, model)
  const script = async (...args: string[]) => (await run('agentpipe', ['--print-script', ...args, 'go'], inside(workspace))).stdout.toString()
  const found = await script('--mode', 'read-only', '--stage', "tool-runner=ssh box 'tool-runner'", '--deny', 'Bash', '--output-schema', 'x')
  t.match(found, "\n  stage sub-agent sub-agent -- --mode=read-only --deny=Bash '--stage=tool-runner=ssh box '\\''tool-runner'\\''' |\n")
  for (const args of [['--from', 'model.resp'], ['--provider', 'replay'], ['--no-tools'], ['--tools', 'Read'], ['--deny', 'SubAgent']])
    t.notMatch(await script(...args), 'sub-agent', args.join(' '))
})
