import { eventually, fieldsOf, frames } from '@agentpipe/testing'
import t from 'tap'
import { StartedStage } from './support/stage.js'

/** Whether a process group has a process left. */
function lives(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

/** A stage that runs a command that ignores SIGTERM and has children, and the command's process group. */
async function running(): Promise<{ stage: StartedStage; group: number }> {
  const stage = new StartedStage('starts-commands')
  stage.process.stdin.write(frames(['TEXT', `trap '' TERM INT HUP; sleep 61 & sleep 62 & wait`]))
  await eventually(() => stage.output.length > 0)
  const group = Number(fieldsOf(stage.output)[0]?.[1])
  return { stage, group }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  t.test(`${signal} of the stage: its commands are gone as well`, async (t) => {
    const { stage, group } = await running()
    t.ok(lives(group))
    stage.process.kill(signal)
    await stage.ended
    t.ok(await eventually(() => !lives(group)))
  })
}

t.test('a group that has ended is off the list', async (t) => {
  const { stage, group } = await running()
  stage.process.stdin.write(frames(['TEXT', 'exit 3']))
  t.ok(await eventually(() => fieldsOf(stage.output).some(([type]) => type === 'ENDED')))
  t.ok(lives(group), 'the other one goes on')
  stage.process.kill('SIGKILL')
  await stage.ended
  t.ok(await eventually(() => !lives(group)))
})
