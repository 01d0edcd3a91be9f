import { join } from 'node:path'
import { root, run, shell } from '@agentpipe/testing'
import t from 'tap'
import { inside, logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers } from './support/processes.js'

const FORMATS = 'agentpipe --provider replay --from model.resp --input-format stream-json --output-format stream-json'
const noPython = (await run('python3', ['--version'])).status !== 0 && 'no Python here'

t.test('commands in, events out: turn after turn, a bad line is an error with its number, END though the input stays open', async (t) => {
  const workspace = new Workspace(t, Buffer.concat([capture({ text: 'one' }), capture({ text: 'two' })]))
  // The FIFO has a writer until bash leaves.
  const line = `mkfifo commands; exec 5<>commands; printf '%s\\n' '{"type":"user_input","text":"second"}' 'bad' '{"type":"end"}' >&5
${FORMATS} first <commands 5>&-; echo "status $?"`
  const { stdout, stderr } = await shell(line, [], inside(workspace))
  t.equal(stderr, '')
  const lines = stdout.toString().trimEnd().split('\n')
  t.equal(lines.pop(), 'status 0')
  const events = lines.map((text) => JSON.parse(text))
  t.same(
    events.filter(({ type }) => type !== 'usage').map(({ type, text }) => text ?? type),
    ['hello', 'first', 'one', 'stop', 'second', 'two', 'stop', 'error'],
  )
  t.match(events.at(-1).message, /^standard input, line 2: not JSON/)
  t.same(events, logged(workspace))
})

t.test('drive.py: two turns, and one call of two is permitted', { skip: noPython }, async (t) => {
  const workspace = new Workspace(t, Buffer.concat([capture(bash('ls', 'touch made'), { text: 'done' }), capture({ text: 'second' })]))
  const drive = join(root, 'scripts/examples/drive.py')
  const { status, stdout } = await run(drive, ['--provider=replay', '--from=model.resp', '--ask=Bash', '--', 'one', 'two'], inside(workspace))
  t.equal(status, 0)
  t.equal(stdout.toString(), 'done\nsecond\n')
  t.same(
    logged(workspace)
      .filter(({ type }) => type === 'tool_result')
      .map(({ status }) => status),
    ['ok', 'denied'],
  )
  t.same(await leftovers(workspace), [])
})
