import { spawn } from 'node:child_process'
import { eventually, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { agent, inside, logged } from './support/agent.js'
import { capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const model = capture({ text: 'Read.' })

async function prompted(t: { teardown(work: () => void): void }, args: readonly string[], input: string | Uint8Array = ''): Promise<unknown> {
  const workspace = new Workspace(t, model)
  const ended = await agent(workspace, args, { input })
  if (ended.status !== 0) throw new Error(ended.stderr)
  return logged(workspace).find(({ type }) => type === 'user_message')?.text
}

t.test('the prompt is what was given, byte for byte', async (t) => {
  for (const prompt of ['fix it', 'it\'s $HOME `id` \\n "x" %s %d', 'é漢😀', 'two\nlines\n', '-n', '*2\r\n$4\r\nTEXT\r\n']) {
    t.equal(await prompted(t, ['--', prompt]), prompt)
  }
})

t.test('what is piped is added to the prompt', async (t) => {
  t.equal(await prompted(t, ['review this'], '+a\n-b\n'), 'review this\n\n+a\n-b\n')
  t.equal(await prompted(t, [], 'only piped'), 'only piped')
  t.equal(await prompted(t, ['only given'], ''), 'only given')
})

t.test('a prompt that is not UTF-8 says so', async (t) => {
  const workspace = new Workspace(t, capture({ text: 'x' }))
  const said = 'agentpipe: the prompt is not UTF-8: what is not becomes U+FFFD\n'
  t.match(await agent(workspace, [], { input: Buffer.from('caf\xe9', 'latin1') }), { status: 0, stderr: said })
  t.match(await agent(workspace, ['caf\u00e9 \ud83d\ude00']), { status: 0, stderr: '' })
})

t.test('a prompt of 200 KB, given and piped', async (t) => {
  const long = `${"x'".repeat(100_000)}.`
  t.equal(await prompted(t, [], long), long)
  t.equal(await prompted(t, [long.slice(0, 100_000)], long), `${long.slice(0, 100_000)}\n\n${long}`)
})

t.test('no prompt, a blank one, one that is no text', async (t) => {
  const workspace = new Workspace(t, model)
  t.match(await agent(workspace, []), { status: 64, stderr: 'agentpipe: a prompt is needed: agentpipe "fix the failing test"\n' })
  t.match(await agent(workspace, [' \n']), { status: 64 })
  t.match(await agent(workspace, ['look'], { input: 'a\0b' }), { status: 65, stderr: 'agentpipe: the prompt holds a NUL byte at byte 7: it must be text\n' })
})

t.test('a standard input that nobody closes: it says what it waits for', async (t) => {
  const workspace = new Workspace(t, model)
  const options = inside(workspace)
  const child = spawn('agentpipe', ['--provider=replay', '--from=model.resp', 'go'], {
    cwd: workspace.directory,
    env: testEnvironment(options.env),
    stdio: 'pipe',
  })
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  child.stdout.resume()
  await eventually(() => stderr !== '', 10_000)
  t.match(stderr, 'agentpipe: waiting for the end of standard input, which is added to the prompt')
  child.stdin.end()
  t.equal(await new Promise((resolve) => child.on('exit', resolve)), 0)
})

t.test('the exit status is agent-loop’s', async (t) => {
  const ended = async (args: string[], bytes = model) => {
    const workspace = new Workspace(t, bytes)
    const { status } = await agent(workspace, [...args, 'go'])
    t.same(await leftovers(workspace), [])
    return status
  }
  t.equal(await ended([]), 0)
  t.equal(await ended(['--from', 'none.resp']), 66)
  t.equal(await ended(['--provider', 'none']), 64)
  t.equal(await ended([], Buffer.alloc(0)), 69)
})
