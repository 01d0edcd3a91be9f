import { readFileSync, statSync } from 'node:fs'
import { root, shell } from '@agentpipe/testing'
import t from 'tap'
import { inside, logPath } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { leftovers, running } from './support/processes.js'

const MB = 1_000_000
/** Each way: far more than all pipes of the ring hold together. make soak takes 50. */
const SIZE = Number(process.env.DEADLOCK_MEGABYTES ?? 12)
const LINE = `mkfifo back
resp write USER_INPUT go | resp merge - back |
  agent-loop --provider replay --from model.resp | tool-runner | node ${root}/packages/agentpipe/build/test/stages/late-frame.js |
  event-store --session s | tee -i back | resp-render >screen
echo "\${PIPESTATUS[*]}"`

t.test(`a late frame of ${SIZE} MB while agent-loop sends ${SIZE} MB of text: no deadlock, memory bounded`, async (t) => {
  const text = Array.from({ length: SIZE * 100 }, () => `${'t'.repeat(9999)}\n`)
  // Where the late result is there when the text has ended, the model is asked what it says to it.
  const workspace = new Workspace(t, capture(bash('true'), { text: [...text, 'The end.'] }, { text: 'So be it.' }))
  const peaks = new Map<string, number>()
  const watch = setInterval(() => recordPeaks(workspace, peaks), 100)
  const ended = await shell(LINE, [], inside(workspace, { timeout: 120_000, env: { LATE_BYTES: String(SIZE * MB) } }))
  clearInterval(watch)
  t.equal(ended.stdout.toString().trim(), '0 0 0 0 0 0 0 0')
  t.equal(ended.stderr, '')
  t.ok(statSync(logPath(workspace)).size > 2 * SIZE * MB, 'both are in the log')
  t.ok(readFileSync(workspace.path('screen'), 'utf8').includes('The end.'))
  for (const [name, peak] of peaks) t.ok(peak < (100 + 12 * SIZE) * MB, `${name} took ${Math.round(peak / MB)} MB at the most`)
  t.ok(peaks.has('agent-loop'), 'memory was looked at')
  t.same(await leftovers(workspace), [])
})

/** The highest resident size (VmHWM) so far of each Node process of the workspace, by the name of what it runs. */
function recordPeaks(workspace: Workspace, peaks: Map<string, number>): void {
  for (const { pid, command } of running(workspace)) {
    const name = /^node \S*\/([\w-]+)(\.js)?( |$)/.exec(command)?.[1]
    if (name === undefined) continue
    try {
      const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
      peaks.set(name, Math.max(peaks.get(name) ?? 0, Number(kilobytes ?? 0) * 1024))
    } catch {
      // It has ended meanwhile.
    }
  }
}
