import t from 'tap'
import { Project } from './support/agentpipe.js'
import { AnthropicServer, says } from './support/anthropic-server.js'
import type { Answer, MockRequest } from './support/mock-server.js'

t.test('an agent starts two others, waits for them, and has what they found; their depth is bounded', async (t) => {
  const server = await AnthropicServer.start(t)
  /** Who asks, its prompt says: the agents ask at the same time. */
  const answer = ({ body }: MockRequest): Answer => {
    const { messages, tools } = JSON.parse(body)
    const [first] = messages
    const prompt = first.content[0].text
    depths[prompt] = tools.some(({ name }: { name: string }) => name === 'SubAgent')
    const last = JSON.stringify(messages.at(-1).content)
    if (prompt === 'deeper') return says({ text: 'The bottom.' })
    if (prompt === 'look left') return says({ text: 'It is left.' })
    const call = (id: string, task: string) => ({ id, name: 'SubAgent', input: JSON.stringify({ prompt: task }) })
    if (last.includes('has ended')) return says({ text: `Heard: ${/left|bottom/.exec(last)?.[0]}.` })
    if (messages.length > 1) return says({ text: 'They look.' })
    return prompt === 'look right' ? says(call('r1', 'deeper')) : says(call('t1', 'look left'), call('t2', 'look right'))
  }
  const depths: Record<string, boolean> = {}
  server.mock.answer(...Array.from({ length: 20 }, () => answer))
  const project = new Project(t, server.env)
  const { status, stdout, stderr } = await project.start('--session', 's', '--model', 'm', '--output-format', 'text', 'go').ended
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.match(stdout, /^Heard: (left|bottom)\.\n$/)
  t.same(server.mock.faults, [])
  t.same(depths, { go: true, 'look left': true, 'look right': true, deeper: false })
  t.ok(await project.quiet(), 'nothing is left')
  const told = server.mock.requests.map(({ body }) => body).join('\n')
  t.match(told, /s\.t1 has ended \(ok\):\\nIt is left\./)
  t.match(told, /s\.t2 has ended \(ok\):\\nHeard: bottom\./)
  t.match(told, /s\.t2\.r1 has ended \(ok\):\\nThe bottom\./)
})

t.test('Ctrl-C ends them with the turn', async (t) => {
  const server = await AnthropicServer.start(t)
  const answer = ({ body }: MockRequest): Answer => {
    const { messages } = JSON.parse(body)
    if (messages[0].content[0].text === 'sleep') return says({ id: 'b1', name: 'Bash', input: '{"command":"touch sleeps; sleep 66.5"}' })
    return messages.length > 1 ? says({ text: 'It sleeps.' }) : says({ id: 't1', name: 'SubAgent', input: '{"prompt":"sleep"}' })
  }
  server.mock.answer(answer, answer, answer, answer)
  const project = new Project(t, server.env)
  const { child, ended } = project.start('--session', 's', '--model', 'm', 'go')
  await project.until('sleeps')
  child.kill('SIGINT')
  await ended
  t.ok(await project.quiet(), 'nothing is left')
})
