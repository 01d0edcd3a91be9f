import { fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { line, runStage, StartedStage, stagePath } from './support/stage.js'

const input = frames(['TEXT', 'é漢😀'], ['MY_OWN', Buffer.from([0, 0xff, 0x0d, 0x0a])], ['TEXT', ''])

t.test('frames pass byte for byte; end of input is 0', async (t) => {
  t.match(await runStage('passes', [], { input }), { status: 0, stdout: input, stderr: '' })
  t.match(await runStage('passes'), { status: 0, stdout: Buffer.alloc(0), stderr: '' })
  t.match(await runStage('fails', [], { input }), { status: 3, stdout: input, stderr: '' }, 'or the status that the stage gives')
})

t.test('from a file, a pipe, a device, and closed', async (t) => {
  const cwd = t.testdir({ frames: input })
  t.ok((await line('%passes <frames', { cwd })).stdout.equals(input))
  t.ok((await line('cat frames | %passes', { cwd })).stdout.equals(input))
  t.match(await line('%passes </dev/null'), { status: 0, stderr: '' })
  t.match(await line('%passes <&-'), { status: 0, stderr: '' })
  t.match(await line('%passes </'), { status: 74, stderr: 'passes: cannot read standard input: it is a directory\n' })
  t.match(await line('%passes <frames >out; cmp out frames', { cwd }), { status: 0, stderr: '' }, 'to a file')
  t.match(await line('%passes <frames >>out; cat frames frames | cmp - out', { cwd }), { status: 0, stderr: '' }, 'to the end of a file')
})

t.test('a pipe larger than any buffer', async (t) => {
  const { stdout, status } = await line(
    `head -c 60000000 /dev/zero | resp write TEXT - >f; cat f f f f | %passes | %passes | cmp - <(cat f f f f) && echo same`,
    { cwd: t.testdir() },
  )
  t.match({ stdout: stdout.toString(), status }, { stdout: 'same\n', status: 0 })
})

t.test('junk and stumps: frames before them pass, an ERROR frame, a line on stderr, 65', async (t) => {
  for (const [bad, message] of [
    ['hello\x1b[2J\n', `expected "*" at byte ${input.length}, found "hello\\x1b[2J\\n"`],
    ['*1\r\n$3\r\nEN', `truncated at byte ${input.length + 10}: the input ends inside the frame that begins at byte ${input.length}`],
  ] as const) {
    for (const from of ['cat bad | %passes', '%passes <bad']) {
      const cwd = t.testdir({ bad: Buffer.concat([input, Buffer.from(bad)]) })
      const ended = await line(from, { cwd })
      t.match(ended, { status: 65, stderr: `passes: ${message}\n` })
      t.ok(ended.stdout.subarray(0, input.length).equals(input))
      const offset = `${/at byte (\d+)/.exec(message)?.[1]}`
      t.same(fieldsOf(ended.stdout)[3], ['ERROR', `passes: ${message}`, 'code', 'malformed', 'source', 'passes', 'offset', offset])
    }
  }
})

t.test('how a stage fails is one line, and what it wrote before goes out', async (t) => {
  const one = frames(['TEXT', 'one'])
  for (const [how, status, stderr] of [
    ['stage error', 75, 'fails: busy\\x1b[2J\n'],
    ['bug', 70, 'fails: internal error: x is not a function; run with AGENTPIPE_DEBUG=1 for the details and report them\n'],
  ] as const) {
    const bytes = Buffer.concat([one, frames(['TEXT', how])])
    t.match(await runStage('fails', [], { input: bytes }), { status, stderr, stdout: bytes })
  }
  for (const how of ['later', 'rejection']) {
    const stage = new StartedStage('fails')
    stage.process.stdin.write(frames(['TEXT', how]))
    t.equal((await stage.ended).status, 70)
    t.match(stage.stderr, /^fails: internal error: [^\n]+\n$/)
  }
  const { stderr } = await runStage('fails', [], { input: frames(['TEXT', 'bug']), env: { AGENTPIPE_DEBUG: '1' } })
  t.match(stderr, 'fails:     at ', 'the stack where it was asked for')
})

t.test('AGENTPIPE_TRACE: each frame in and out, with its id', async (t) => {
  const input = frames(['TEXT', 'x'], ['TOOL_CALL', 'Bash', 'c\n1', '{}'], ['TOOL_RESULT', 'c2', 'Bash', ''], ['MY_OWN'])
  const { stderr } = await runStage('passes', [], { input, env: { AGENTPIPE_TRACE: '1' } })
  t.same(
    stderr.trimEnd().split('\n'),
    ['TEXT', 'TOOL_CALL id=c\\n1', 'TOOL_RESULT id=c2', 'MY_OWN'].flatMap((frame) => [`passes < ${frame}`, `passes > ${frame}`]),
  )
  t.match(await runStage('passes', [], { input, env: { AGENTPIPE_TRACE: '0' } }), { stderr: '' })
  t.match(
    await line('%passes 2>/dev/full', { input, env: { AGENTPIPE_TRACE: '1' } }),
    { status: 0, stdout: input },
    'a stderr that takes nothing is no reason to fail',
  )
  t.ok(stagePath('passes').endsWith('.js'))
})
