import { run } from '@agentpipe/testing'
import t from 'tap'

t.test('doctor: what is there, what to do about the rest, names of keys and never their values', async (t) => {
  const state = t.testdir()
  const env = { XDG_STATE_HOME: state, OPENAI_API_KEY: 'sk-secret', LC_ALL: 'C' }
  const { status, stdout } = await run('agentpipe', ['doctor'], { env })
  t.equal(status, 0, stdout.toString())
  t.match(stdout.toString(), /^ok +keys +OPENAI_API_KEY$/m)
  t.match(stdout.toString(), /^ok +tool-runner +\d/m)
  t.match(stdout.toString(), /^hint +locale +C: set LANG/m)
  t.notMatch(stdout.toString(), 'sk-secret')
})

t.test('doctor: a problem is 1; where nothing would run it is 69', async (t) => {
  const state = t.testdir({ file: '' })
  t.match(await run('agentpipe', ['doctor'], { env: { XDG_STATE_HOME: state } }), { status: 1, stdout: /^PROBLEM {2}keys/m })
  const { status, stdout } = await run('agentpipe', ['doctor', '--json'], { env: { XDG_STATE_HOME: `${state}/file` } })
  t.equal(status, 69)
  t.match(
    JSON.parse(stdout.toString()).findings.find(({ what }: { what: string }) => what === 'sessions'),
    { state: 'fatal', todo: /XDG_STATE_HOME/ },
  )
})
