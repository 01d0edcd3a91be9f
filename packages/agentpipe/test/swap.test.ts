import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fieldsOf, root, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const model = capture(bash('echo from the tool'), { text: 'Said.' })

t.test('a stage put in another one’s place, stages in front of and behind one, and a record', async (t) => {
  const workspace = new Workspace(t, model)
  writeFileSync(workspace.path('runner'), '#!/bin/sh\ntee seen | tool-runner\n')
  chmodSync(workspace.path('runner'), 0o755)
  const around = ['--stage', 'tool-runner=./runner', '--before', 'event-store=tee before', '--after', 'event-store=tee after']
  const ended = await agent(workspace, [...around, '--record', 'a session.resp', 'say it'])
  t.match(ended, { status: 0, stderr: '' })
  t.same(fieldsOf(readFileSync(workspace.path('seen')))[0]?.[0], 'HELLO')
  t.ok(logged(workspace).some(({ content }) => content === 'from the tool\n' || content === 'from the tool'))
  t.same(readFileSync(workspace.path('before')), readFileSync(workspace.path('after')))
  const replayed = await shell('resp-render <"a session.resp"', [], inside(workspace))
  t.equal(replayed.stdout.toString(), ended.stdout.toString(), 'the record gives what was shown')
})

t.test('a record that cannot be written is refused before anything is asked', async (t) => {
  const workspace = new Workspace(t, model)
  const ended = await agent(workspace, ['--record', '/dev/null/none', 'say it'])
  t.match(ended, { status: 73, stderr: /^agentpipe: cannot write \/dev\/null\/none: \w.*\n$/ })
  t.equal(ended.stdout.toString(), '')
})

t.test('a reader that leaves, and no reader at all', async (t) => {
  const workspace = new Workspace(t, capture(bash('seq 100000'), { text: Array.from({ length: 200 }, (_, n) => `line ${n}\n`.repeat(100)) }))
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
  t.match(await agent(workspace, ['--stage', 'tool-runner=exit 3', 'p']), { status: 3, stderr: 'agentpipe: tool-runner failed first, with status 3' })
  t.match(await agent(workspace, ['--stage', 'tool-runner=no-such-command', 'p']), { status: 127, stderr: /tool-runner failed first, with status 127/ })
})

t.test('sub-agents have the same stages and rules; a captured model has none', async (t) => {
  const workspace = new Workspace(t, model)
  const script = async (...args: string[]) => (await run('agentpipe', ['--print-script', ...args, 'go'], inside(workspace))).stdout.toString()
  const found = await script('--mode', 'read-only', '--stage', "tool-runner=ssh box 'tool-runner'", '--deny', 'Bash', '--output-schema', 'x')
  t.match(found, "\n  stage sub-agent sub-agent -- --mode=read-only --deny=Bash '--stage=tool-runner=ssh box '\\''tool-runner'\\''' |\n")
  for (const args of [['--from', 'model.resp'], ['--provider', 'replay'], ['--no-tools'], ['--tools', 'Read'], ['--deny', 'SubAgent']])
    t.notMatch(await script(...args), 'sub-agent', args.join(' '))
})

t.test('--without leaves stages out; without resp-render frames are printed', async (t) => {
  const workspace = new Workspace(t, model)
  const frames = await agent(workspace, ['--without', 'resp-render', '--without', 'event-store', 'say it'])
  t.match(frames, { status: 0, stderr: '' })
  t.same(fieldsOf(frames.stdout).at(-1), ['STOP', 'end_turn'])
  t.notOk(existsSync(workspace.path('state')), 'nothing is recorded')
  const none = await agent(workspace, ['--without', 'tool-runner', '--on-divergence', 'ignore', 'say it'])
  t.match(none.stdout.toString(), /There is no tool "Bash"/)
  t.match(await agent(workspace, ['--without', 'agent-loop', 'p']), { status: 64, stderr: /^agentpipe: --without agent-loop: nobody would ask/ })
  t.match(await agent(workspace, ['--without', 'renderer', 'p']), { status: 64, stderr: /there is no stage "renderer"/ })
})

t.test('--on runs the tools on another machine; a connection that is lost ends it within seconds', async (t) => {
  const workspace = new Workspace(t, model)
  mkdirSync(workspace.path("far 'away"))
  const ssh = (body: string) => {
    mkdirSync(workspace.path('stand-ins'), { recursive: true })
    writeFileSync(workspace.path('stand-ins/ssh'), `#!/bin/sh\nwhile [ "$1" != box ]; do shift; done\nshift\n${body}\n`)
    chmodSync(workspace.path('stand-ins/ssh'), 0o755)
    return { env: { PATH: `${workspace.path('stand-ins')}:${root}/dist/bin:${process.env.PATH}` } }
  }
  writeFileSync(workspace.path('model.resp'), capture(bash('pwd >where'), { text: 'Said.' }))
  const there = await agent(workspace, ['--on', `box:${workspace.path("far 'away")}`, '--mode', 'workspace', 'say it'], ssh('exec sh -c "$*"'))
  t.match(there, { status: 0, stderr: '' })
  t.equal(readFileSync(workspace.path("far 'away/where"), 'utf8'), `${workspace.path("far 'away")}\n`)
  const lost = await agent(workspace, ['--on', 'box', 'say it'], ssh('head -c 20 >/dev/null; exit 255'))
  t.match(lost, { status: 69, stderr: /^agentpipe: no connection to box, or it was lost\n/ })
  t.same(await leftovers(workspace), [])
  t.match(await agent(workspace, ['--on', '-oProxyCommand=x', 'p']), { status: 64, stderr: /--on: expected HOST/ })
})

t.test('a pipeline that the config file has under a name; --dry-run says what would run', async (t) => {
  const workspace = new Workspace(t, model)
  const mine = { mode: 'read-only', after: ['tool-runner=cat'], without: ['event-store'] }
  writeFileSync(workspace.path('config.json'), JSON.stringify({ agentpipe: { pipelines: { mine, bad: { after: 'x' }, odd: { nosuch: 1 } } } }))
  const env = { AGENTPIPE_CONFIG: workspace.path('config.json') }
  const dry = await agent(workspace, ['--pipeline', 'mine', '--dry-run', 'p'], { env })
  t.match(dry, { status: 0, stderr: '' })
  t.equal(
    dry.stdout.toString(),
    [
      'agent-loop         agent-loop --provider=replay --from=model.resp --once --ring',
      'tool-runner        tool-runner --mode=read-only',
      'after-tool-runner  sh -c cat',
      'tee                tee -i -- "$dir/back"',
      'resp-render        resp-render',
      '',
    ].join('\n'),
  )
  t.match((await agent(workspace, ['--pipeline', 'mine', '--mode', 'full', '--dry-run', 'p'], { env })).stdout.toString(), '--mode=full', 'flags go first')
  for (const [name, said] of [
    ['none', 'there is no pipeline "none": there are mine, bad, odd'],
    ['bad', 'agentpipe.pipelines.bad.after: expected an array of strings, found "x"'],
    ['odd', 'agentpipe.pipelines.odd.nosuch: there is no such option'],
  ] as const) {
    const ended = await agent(workspace, ['--pipeline', name, 'p'], { env })
    t.equal(ended.status, 78)
    t.match(ended.stderr, said)
  }
})
