import { printable, usage } from '@agentpipe/stage'
import { handedOn, type Settings, STAGES, type StageName } from './options.js'
import { quote, quoteBytes } from './quote.js'

/** One stage of the pipeline as words of the shell. */
interface Link {
  readonly name: string
  readonly words: string
}

/**
 * The wiring as a POSIX shell script: the one-shot ring of design.md, section 3. It is what agentpipe runs, and runs by hand as well.
 * `executables` is the directory of our executables. Throws StageError (64) where settings name a stage that there is not.
 */
export function writeScript(settings: Settings, prompt: Uint8Array, executables: string): Buffer {
  const text = [opening(executables), record(settings), session(settings), input(settings), pipeline(settings), CLOSING]
  return Buffer.concat([Buffer.from(HEADER), Buffer.from('prompt='), quoteBytes(prompt), Buffer.from(`\n\n${text.join('\n')}`)])
}

const HEADER = `#!/bin/sh
# An agent as one pipeline, written by agentpipe --print-script.
# shellcheck disable=SC2016 # what stands in single quotes is meant as it is
trap '' INT

`

function opening(executables: string): string {
  return `PATH=${quote(executables)}:$PATH
export PATH
dir=$(mktemp -d "\${TMPDIR:-/tmp}/agentpipe.XXXXXX") || exit 73
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/back" || exit 73
: >"$dir/status"

# Each stage says on "$dir/status", and to agentpipe on descriptor 7 where that runs us, which process it is and how it ended.
report() {
  echo "$*" >>"$dir/status"
  [ -z "\${AGENTPIPE_SUPERVISED-}" ] || echo "$*" >&7
}

# stage NAME COMMAND...: runs a stage; the shell that waits for it lets go of the pipes, or their ends would never be seen.
stage() {
  name=$1
  shift
  { "$@" <&5 5<&- 7>&- & } 5<&0
  exec <&- >&-
  report start "$name" $!
  wait $! && status=0 || status=$?
  report end "$name" "$status"
}

# Ends whatever still runs: it carries the mark of this run in its environment, wherever it has moved to.
sweep() (
  unset AGENTPIPE_RUN
  grep -lsz "^AGENTPIPE_RUN=$dir$" /proc/[0-9]*/environ | sed 's|/proc/\\(.*\\)/environ|\\1|' | xargs kill -KILL 2>/dev/null
)

# Ends the stages that are still there some time after agentpipe has gone; ours see that for themselves, others may not.
guard() {
  unset AGENTPIPE_RUN
  read -r _ <&8
  sleep 3 &
  trap 'kill $!; exit' TERM
  wait $!
  sweep
  rm -rf "$dir"
}
AGENTPIPE_RUN=$dir
export AGENTPIPE_RUN
if [ -n "\${AGENTPIPE_SUPERVISED-}" ]; then
  AGENTPIPE_WATCH_FD=8
  export AGENTPIPE_WATCH_FD
  guard >/dev/null 2>&1 7>&- &
  guard=$!
fi
`
}

/** Said before anything is asked or done. */
function record({ record: file }: Settings): string {
  if (file === undefined) return ''
  const said = quote(`agentpipe: cannot write ${printable(file)}`)
  return `{ true >${quote(file)}; } 2>/dev/null || { echo ${said} >&2; exit 73; }\n`
}

function session({ session: id, continue: goOn }: Settings): string {
  if (goOn) return `log=$(event-store path latest) || exit\nsession=\${log%/events.jsonl}\nsession=\${session##*/}\n`
  return id === undefined ? '' : `session=${quote(id)}\n`
}

function input(settings: Settings): string {
  const history = resumes(settings) ? '\n  event-store history --or-none "$session"' : ''
  return `# What agent-loop reads: ${history === '' ? '' : 'the session so far, '}the prompt as a frame, then what comes round.
input() {${history}
  printf "*2\\r\\n\\$10\\r\\nUSER_INPUT\\r\\n\\$%d\\r\\n%s\\r\\n" "$(printf %s "$prompt" | wc -c)" "$prompt"
  exec cat "$dir/back"
}
`
}

function pipeline(settings: Settings): string {
  const links = [{ name: 'input', words: 'input' }, ...ring(settings), ...ending(settings)]
  const line = links.map(({ name, words }) => `stage ${name} ${words}`).join(' |\n  ')
  return settings['output-format'] === 'stream-json' ? `{\n  ${line}\n} 4>&1\n` : `${line}\n`
}

function resumes({ session: id, continue: goOn }: Settings): boolean {
  return goOn || id !== undefined
}

/** The stages up to event-store, with those put in their place, in front of them and behind them. */
function ring(settings: Settings): Link[] {
  return STAGES.filter((name) => name !== 'resp-render').flatMap((name) => around(settings, name, ownWords(settings, name)))
}

/** What comes behind event-store: back to agent-loop, to the record, and to whoever reads. */
function ending(settings: Settings): Link[] {
  const record = settings.record === undefined ? '' : ` ${quote(settings.record)}`
  if (settings['output-format'] === 'stream-json') return [{ name: 'tee', words: `tee -i${record} >"$dir/back"` }]
  return [{ name: 'tee', words: `tee -i "$dir/back"${record}` }, ...around(settings, 'resp-render', ownWords(settings, 'resp-render'))]
}

function ownWords(settings: Settings, name: StageName): string {
  const words: string[] = [name, ...handedOn(name, settings)].map(quote)
  const format = settings['output-format']
  if (name === 'agent-loop') words.push('--once')
  if (name === 'agent-loop' && resumes(settings)) words.push('--session="$session"')
  if (name === 'event-store' && format === 'stream-json') words.push('--stream-json=4')
  if (name === 'resp-render' && format !== 'human') words.push(`--format=${format}`)
  return words.join(' ')
}

function around(settings: Settings, name: StageName, own: string): Link[] {
  const given = (list: readonly string[]) => list.map(assignment).filter((item) => item.stage === name)
  const foreign = (label: string) => (item: { command: string }) => ({ name: label, words: `sh -c ${quote(item.command)}` })
  const replaced = given(settings.stage).map(foreign(name)).at(-1)
  return [...given(settings.before).map(foreign(`before-${name}`)), replaced ?? { name, words: own }, ...given(settings.after).map(foreign(`after-${name}`))]
}

function assignment(text: string): { stage: string; command: string } {
  const [, stage, command] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  if (stage === undefined || command === undefined || command.trim() === '') throw usage(`expected NAME=COMMAND, found ${JSON.stringify(text)}`)
  if (!(STAGES as readonly string[]).includes(stage)) throw usage(`there is no stage ${JSON.stringify(stage)}: ${STAGES.join(', ')}`)
  return { stage, command }
}

const CLOSING = `
# The status of the whole is that of the stage that failed first. A reader that has left (141, SIGPIPE) is no failure of a stage.
[ -z "\${guard-}" ] || kill "$guard"
first=
while read -r event name status; do
  [ "$event" = end ] || continue
  first=\${first:-$name}
  case $name:$status in
    *:0) continue ;;
    *:141)
      case $name in
        tee) ;;
        agent-loop) echo "agentpipe: the ring was cut: $first was the first stage to end" >&2 && status=69 ;;
        *) continue ;;
      esac
      ;;
    agent-loop:12[0-7] | agent-loop:[0-9] | agent-loop:[0-9][0-9] | agent-loop:130) ;;
    *:1[3-9]?) echo "agentpipe: $name was killed by SIG$(kill -l "$status")" >&2 ;;
    *) echo "agentpipe: $name failed first, with status $status" >&2 ;;
  esac
  sweep
  exit "$status"
done <"$dir/status"
`
