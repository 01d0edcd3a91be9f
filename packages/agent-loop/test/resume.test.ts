import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Project } from './support/agentpipe.js'
import { AnthropicServer, says } from './support/anthropic-server.js'
import type { Answer, MockRequest } from './support/mock-server.js'

/** `make soak` asks for more. */
const KILLS = Number(process.env.RESUME_KILLS ?? 4)
/** A session is killed so often before the next one is begun. */
const A_SESSION = 10
/** A run takes about this long, in milliseconds: kills come at any moment of it. */
const RUN_MS = 1500

t.test(`kill -9 at ${KILLS} random moments: the request that goes on is valid every time`, async (t) => {
  const server = await AnthropicServer.start(t)
  const project = new Project(t, server.env)
  for (let kill = 1; kill <= KILLS; kill++) {
    const session = `s${Math.ceil(kill / A_SESSION)}`
    server.mock.restart(...turn(kill))
    const moment = Math.random() * RUN_MS
    const { ended } = project.start('--session', session, `prompt ${kill}`)
    await sleep(moment)
    // Twice: a process may have been starting another.
    while (project.kill() > 0) await sleep(5)
    await ended
    if (kill % A_SESSION !== 0 && kill !== KILLS) continue
    server.mock.restart(says({ text: 'All is well.' }))
    const { status, stdout, stderr } = await project.start('--session', session, 'go on').ended
    t.equal(status, 0, stderr)
    t.match(stdout, 'All is well.')
  }
  t.same(server.mock.faults, [])
  t.ok(server.mock.requests.length > 0)
})

/** A turn with calls side by side, of which some are quick. Answers are made when they are asked for, so that a script that was cut does no harm. */
function turn(number: number): ((request: MockRequest) => Answer)[] {
  const bash = (id: string, command: string) => ({ id, name: 'Bash', input: JSON.stringify({ command }) })
  const think = { thinking: `I think ${number}`, signature: `c2ln${number}A` }
  return [
    () => ({ ...says(think, { text: 'Both at once.' }, bash(`a${number}`, 'echo 1'), bash(`b${number}`, 'sleep 0.2; echo 2')), pieces: 200, gap: 10 }),
    () => says(bash(`c${number}`, 'false'), bash(`d${number}`, 'head -c 100000 /dev/zero | tr "\\0" x')),
    () => ({ ...says({ text: `Done with ${number}.` }), pieces: 100, gap: 20 }),
  ]
}
