import { usage } from '@agentpipe/stage'
import { handedDown, handedOn, type Settings, STAGES, type StageName } from './options.js'
import { quote } from './quote.js'
import { LOST, lostConnection, sshWords } from './remote.js'

/** One stage of the pipeline as words of the shell. */
export interface Link {
  readonly name: string
  readonly words: string
  /** A program of somebody else. */
  readonly foreign?: true
}

/**
 * The pipeline behind its input: the stages in their order, with those put in their place, in front of them and behind them, and the way back. Where
 * frames are printed, their reader is not among them. Throws StageError (64) for settings that name a stage that there is not.
 */
export function links(settings: Settings): Link[] {
  refuseUnknown(settings)
  return numbered([...ring(settings), ...ending(settings)])
}

/** Names that stand there more than once get a number: each stage is known by its own. */
function numbered(all: readonly Link[]): Link[] {
  const times = new Map<string, number>()
  return all.map((link) => {
    const time = (times.get(link.name) ?? 0) + 1
    times.set(link.name, time)
    return time === 1 ? link : { ...link, name: `${link.name}-${time}` }
  })
}

/** Whether what a pipeline prints is its last stage's: resp-render's, that of what stands behind it, or that of who prints the lines of the log. */
export function endsInReader(settings: Settings): boolean {
  return !settings.interactive && ending(settings).length > 1
}

export function resumes({ session: id, continue: goOn }: Settings): boolean {
  return goOn || id !== undefined
}

function refuseUnknown({ stage, before, after, without }: Settings): void {
  for (const name of without) {
    if (!(STAGES as readonly string[]).includes(name)) throw noStage(name)
    if (name === 'agent-loop') throw usage('--without agent-loop: nobody would ask the model; --stage agent-loop=COMMAND puts something in its place')
  }
  for (const { stage: name } of [...stage, ...before, ...after].map(assignment)) if (!(STAGES as readonly string[]).includes(name)) throw noStage(name)
}

function noStage(name: string): Error {
  return usage(`there is no stage ${JSON.stringify(name)}: ${STAGES.join(', ')}`)
}

/** The stages up to event-store. */
function ring(settings: Settings): Link[] {
  return STAGES.filter((name) => name !== 'resp-render' && (name !== 'sub-agent' || hasSubAgents(settings))).flatMap((name) => around(settings, name))
}

/** A captured model calls for none: what came of them is in its capture. */
function hasSubAgents(settings: Settings): boolean {
  const { stage, before, after, provider, from, until, tools, deny, 'no-tools': noTools } = settings
  if ([...stage, ...before, ...after].some((item) => item.startsWith('sub-agent='))) return true
  const plays = provider === 'replay' || (from !== undefined && until === undefined)
  return !plays && !noTools && tools === undefined && !deny.includes('SubAgent')
}

/** What comes behind event-store: back to agent-loop, to the record, and to whoever reads. */
function ending(settings: Settings): Link[] {
  if (settings.interactive) return wayBack(settings)
  const record = settings.record === undefined ? '' : ` ${quote(settings.record)}`
  if (settings['output-format'] === 'stream-json')
    return [
      { name: 'tee', words: `tee -i --${record} >"$dir/back"` },
      { name: 'lines', words: 'cat' },
    ]
  return [{ name: 'tee', words: `tee -i -- "$dir/back"${record}` }, ...around(settings, 'resp-render')]
}

/** Interactive: what was drawn goes back, by way of the record. */
function wayBack(settings: Settings): Link[] {
  const drawn = around(settings, 'resp-render')
  const all = settings.record === undefined ? drawn : [...drawn, { name: 'tee', words: `tee -i -- ${quote(settings.record)}` }]
  const last = all.pop() ?? { name: 'cat', words: 'cat' }
  return [...all, { ...last, words: `${last.words} >"$dir/back"` }]
}

/** A stage, with what stands before and behind it; without it where that is asked for. */
function around(settings: Settings, name: StageName): Link[] {
  const given = (list: readonly string[]) => list.map(assignment).filter((item) => item.stage === name)
  const foreign = (label: string) => (item: { command: string }) => ({ name: label, words: `sh -c ${quote(item.command)}`, foreign: true }) as const
  const replaced = given(settings.stage).map(foreign(name)).at(-1)
  const own = settings.without.includes(name) ? [] : [replaced ?? { name, words: ownWords(settings, name) }]
  return [...given(settings.before).map(foreign(`before-${name}`)), ...own, ...given(settings.after).map(foreign(`after-${name}`))]
}

function ownWords(settings: Settings, name: StageName): string {
  const words: string[] = [name, ...handedOn(name, settings)].map(quote)
  const format = settings['output-format']
  if (name === 'agent-loop') words.push(...(settings.interactive || settings['input-format'] === 'stream-json' ? [] : ['--once']), '--ring')
  if (name === 'agent-loop' && settings.interactive) words.push('${session:+--session="$session"}')
  else if (name === 'agent-loop' && resumes(settings)) words.push('--session="$session"')
  if (name === 'resp-render' && settings.interactive) words.push('--tty')
  if (name === 'tool-runner' && settings.on !== undefined) return remote(settings.on, words.join(' '))
  if (name === 'sub-agent') words.push('--', ...handedDown(settings).map(quote))
  if (name === 'event-store') words.push('--path-file="$dir/log"')
  if (name === 'event-store' && format === 'stream-json') words.push('--stream-json=4')
  if (name === 'resp-render' && format !== 'human') words.push(`--format=${format}`)
  return words.join(' ')
}

/** A command on another machine, as words of the shell. */
function remote(place: string, command: string): string {
  const { words, host } = sshWords(place, command)
  const lost = `echo ${quote(`agentpipe: ${lostConnection(host)}`)} >&2; exit 69`
  return `sh -c ${quote(`ssh ${words.map(quote).join(' ')}; status=$?; if [ "$status" = ${LOST} ]; then ${lost}; fi; exit "$status"`)}`
}

function assignment(text: string): { stage: string; command: string } {
  const [, stage, command] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  if (stage === undefined || command === undefined || command.trim() === '') throw usage(`expected NAME=COMMAND, found ${JSON.stringify(text)}`)
  return { stage, command }
}
