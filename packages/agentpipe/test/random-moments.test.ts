import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, testEnvironment } from '@agentpipe/testing'
import t from 'tap'
import { logged } from './support/agent.js'
import { bash, capture, Workspace } from './support/capture.js'
import { type Running, running } from './support/processes.js'
import { Random } from './support/random.js'
import { noTmux, Tmux } from './support/tmux.js'

/** `make soak` asks for 500 turns, and 100 kills of each form: about a quarter of an hour. */
const TURNS = Number(process.env.INTERRUPTED_TURNS ?? 4)
const KILLS = Number(process.env.RANDOM_KILLS ?? 2)

/** A turn of about half a second: text, a command, text. */
const turn = () => capture({ text: 'It begins.', ...bash('echo a; sleep 0.2; echo b') }, { text: ['It', ' ends.'] })

t.test(`${TURNS} turns, interrupted at random moments`, { skip: noTmux, timeout: 60_000 + TURNS * 10_000 }, async (t) => {
  const random = new Random(t)
  const terminal = new Tmux(t, Buffer.concat(Array.from({ length: TURNS }, turn)))
  t.ok(await terminal.start(), terminal.screen)
  const log = () => logged(terminal.workspace)
  for (let n = 1; n <= TURNS; n++) {
    const moment = random.below(450)
    terminal.enter(`turn ${n}`)
    await sleep(moment)
    terminal.press('C-c')
    const idle = () => /\n› ask for anything/.test(terminal.pane) && log().filter(({ type }) => type === 'stop').length === n
    if (!(await eventually(idle, 20_000))) return t.fail(`turn ${n}, interrupted after ${moment} ms, does not end:\n${terminal.pane}`)
  }
  const events = log()
  const texts = events.filter(({ type }) => type === 'user_message').map(({ text }) => text)
  t.same(
    texts,
    Array.from({ length: TURNS }, (_, n) => `turn ${n + 1}`),
    'each input was taken up once',
  )
  const calls = events.filter(({ type }) => type === 'tool_call').map(({ tool_use_id: id }) => id)
  const results = events.filter(({ type }) => type === 'tool_result')
  t.same(results.map(({ tool_use_id: id }) => id).sort(), calls.sort(), 'each call has one result')
  const reasons = events.filter(({ type }) => type === 'stop').map(({ reason }) => reason)
  t.comment(
    `${reasons.filter((reason) => reason === 'interrupted').length} interrupted, ${results.filter(({ status }) => status === 'cancelled').length} cancelled`,
  )
  t.same(
    reasons.filter((reason) => reason !== 'interrupted' && reason !== 'end_turn'),
    [],
  )
  terminal.press('C-d')
  t.ok(await terminal.shows(/\n\$$/), terminal.pane)
  t.ok(await terminal.isSane(), terminal.pane)
  t.same(await remains(terminal.workspace), [])
})

t.test(`kill -9 of anything at a random moment, ${KILLS} times at a terminal`, { skip: noTmux, timeout: 60_000 + KILLS * 20_000 }, async (t) => {
  const random = new Random(t)
  for (let n = 0; n < KILLS; n++) {
    const terminal = new Tmux(t, turn())
    await terminal.shows('$')
    // Typed ahead: it is there when user-prompt is.
    terminal.enter('agentpipe --provider replay --from model.resp')
    terminal.enter('go')
    const killed = await kill(terminal.workspace, random, 2500)
    if (killed === undefined) {
      await terminal.shows(/^› /m)
      terminal.press('C-c', 'C-d')
    }
    const left = await remains(terminal.workspace)
    t.same(left, [], `${killed}: nothing is left`)
    t.ok(await terminal.isSane(), `${killed}: ${terminal.pane}`)
    terminal.end()
    if (left.length > 0) return
  }
})

t.test(`kill -9 of anything at a random moment, ${KILLS} times in a script`, { timeout: 60_000 + KILLS * 20_000 }, async (t) => {
  const random = new Random(t)
  for (let n = 0; n < KILLS; n++) {
    const workspace = new Workspace(t, turn())
    const agentpipe = spawn('agentpipe', ['--provider=replay', '--from=model.resp', 'go'], {
      cwd: workspace.directory,
      env: testEnvironment(workspace.environment),
      stdio: 'ignore',
    })
    const ended = once(agentpipe, 'exit')
    const killed = await kill(workspace, random, 1800)
    const [status] = await ended
    const left = await remains(workspace)
    t.same(left, [], `${killed}: nothing is left`)
    const whole = existsSync(workspace.path('state')) && logged(workspace).at(-1)?.type === 'stop'
    t.ok(status !== 0 || whole, `${killed}: no success without an end of the turn`)
    if (left.length > 0) return
  }
})

/** Stages, agentpipe, and the shell that runs the stages; not the commands that they run. */
const STAGE = /\/(?:agentpipe|user-prompt|agent-loop|tool-runner|event-store|resp-render)(?: |$)|^tee -i|^cat -$/

/** Waits for a random moment, then kills one of them. Gives which and when; undefined where none ran. */
async function kill(workspace: Workspace, random: Random, most: number): Promise<string | undefined> {
  const moment = random.below(most)
  await sleep(moment)
  const all = running(workspace)
  const agentpipe = all.find(({ command }) => /\/agentpipe --provider/.test(command))
  const victims = all.filter(({ command, parent }) => STAGE.test(command) || (command === '/bin/sh -s' && parent === agentpipe?.pid))
  const victim: Running | undefined = victims[random.below(victims.length)]
  if (victim === undefined) return undefined
  try {
    process.kill(victim.pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
  return `${victim.command.replace(/^.*?([\w-]+( |$))/, '$1').slice(0, 40)} after ${moment} ms`
}

/** Processes and directories that are there though everything should have ended. */
async function remains(workspace: Workspace): Promise<string[]> {
  const processes = () =>
    running(workspace)
      .map(({ command }) => command)
      .filter((command) => !/^(tmux|bash) /.test(command))
  const directories = () => readdirSync(workspace.directory).filter((name) => name.startsWith('agentpipe.'))
  await eventually(() => processes().length + directories().length === 0, 15_000)
  return [...processes(), ...directories()]
}
