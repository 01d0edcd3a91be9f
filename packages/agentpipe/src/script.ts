import { printable } from '@agentpipe/stage'
import { again, interactiveInput, TERMINAL } from './interactive.js'
import { endsInReader, type Link, links, resumes } from './links.js'
import type { Settings } from './options.js'
import { quote, quoteBytes } from './quote.js'

/**
 * The wiring as a POSIX shell script: the one-shot ring of design.md, section 3, or the interactive one. It is what agentpipe runs, and runs by hand as well.
 * `executables` is the directory of our executables. Throws StageError (64) where settings name a stage that there is not.
 */
export function writeScript(settings: Settings, prompt: Uint8Array, executables: string): Buffer {
  const [start, line] = settings.interactive ? [interactiveInput(settings), again(pipeline(settings))] : [input(settings), pipeline(settings)]
  const text = [opening(executables, settings), record(settings), session(settings), start, line, CLOSING]
  const given = settings.interactive ? [] : [Buffer.from('prompt='), quoteBytes(prompt), Buffer.from('\n\n')]
  return Buffer.concat([Buffer.from(HEADER), ...given, Buffer.from(text.join('\n'))])
}

const HEADER = `#!/bin/sh
# An agent as one pipeline, written by agentpipe --print-script.
# shellcheck disable=SC2016,SC2317 # what stands in single quotes is meant as it is; functions are called by traps
trap '' INT XFSZ

`

function opening(executables: string, { interactive, 'input-format': input }: Settings): string {
  // Who waits for commands is not ended by an interrupt.
  const end = input === 'stream-json' ? 'TERM' : 'INT'
  return `PATH=${quote(executables)}:$PATH
export PATH
# Told to leave before there is anything to leave: at once, and nothing stays.
dir=
trap 'rm -rf "$dir"; exit 143' TERM
trap 'rm -rf "$dir"; exit 129' HUP
# agentpipe, to which we report, was killed.
trap 'exit 141' PIPE
dir=$(mktemp -d "\${TMPDIR:-/tmp}/agentpipe.\${AGENTPIPE_SUPERVISED-}XXXXXX" 2>/dev/null) || {
  echo "agentpipe: cannot make a directory in \${TMPDIR:-/tmp}; TMPDIR names another place" >&2
  exit 73
}
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/back" || exit 73
: >"$dir/status"

# Each stage says on "$dir/status", and to agentpipe on descriptor 7 where that runs us, which process it is and how it ended.
report() {
  echo "$*" 2>/dev/null >>"$dir/status"
  [ -z "\${AGENTPIPE_SUPERVISED-}" ] || echo "$*" >&7
}
${interactive ? TERMINAL : ''}
# stage NAME COMMAND...: runs a stage; the shell that waits for it lets go of the pipes, or their ends would never be seen. When the whole
# group is told to leave, stages end one behind the other, at the end of their input: so the last of what was said arrives.
stage() {
  trap '' TERM HUP
  name=$1
  shift
  if [ "$1" = named ]; then { "$@" <&5 5<&- 7>&- & } 5<&0; else { "$@" <&5 5<&- 6>&- 7>&- & } 5<&0; fi
  exec <&- >&- 6>&-
  report start "$name" $!
  wait $! 2>/dev/null && status=0 || status=$?
  report end "$name" "$status"
  # Who reads has left before the end, and was not interrupted like the others: nothing is left to be done.
  if [ "$name" = "$reader" ] && [ "$status" != 130 ] && ! grep -qs '^end tee ' "$dir/status" && tell ${end}; then report left "$name"; fi
}

# A program of somebody else: what it says on standard error gets the name of its place in front.
named() {
  mkfifo "$dir/$name" || exit 73
  sed -u "/^$name: /!s/^/$name: /" <"$dir/$name" >&6 &
  # What it leaves running must not hold what event-store prints lines to.
  [ "$name" = event-store ] || exec 4>&-
  exec "$@" 2>"$dir/$name" 6>&-
}

# Sends a signal to agent-loop, if it runs.
tell() {
  head=$(sed -n 's/^start agent-loop //p' "$dir/status" 2>/dev/null)
  [ -n "$head" ] && ! grep -qs '^end agent-loop ' "$dir/status" && kill -s "$1" "$head" 2>/dev/null
}

# Ends whatever still runs: it carries the mark of this run in its environment, wherever it has moved to.
sweep() (
  unset AGENTPIPE_RUN
  grep -lsz "^AGENTPIPE_RUN=$dir$" /proc/[0-9]*/environ | sed 's|/proc/\\(.*\\)/environ|\\1|' | xargs kill -KILL 2>/dev/null
)

# In the background: sees to it that nothing is left three seconds from now. SIGUSR1: all has ended.
limit() {
  unset AGENTPIPE_RUN
  trap '' TERM HUP
  trap 'kill -s KILL $!; exit' USR1
  for _ in 1 2 3; do
    sleep 1 &
    wait $!
    # It may not have been up the first time.
    tell TERM
  done
  sweep
${interactive ? '  restore\n' : ''}  rm -rf "$dir"
}

# When agentpipe has gone: ours see that for themselves, others may not. Stages have made the descriptor non-blocking for all who hold it:
# to cat that was stopped and goes on there is nothing to read, which is a failure and not yet the end.
guard() {
  unset AGENTPIPE_RUN
  trap '' TERM HUP TSTP
  trap 'kill -s KILL $!; exit' USR1
  cat <&8 &
  until wait $!; do
    sleep 1 &
    wait $!
    cat <&8 &
  done
  limit
}

# SIGTERM and SIGHUP end the turn, and then the stages.
leave() {
  [ -z "$signalled" ] || return
  signalled=$1
  tell TERM
  limit >/dev/null 2>&1 6>&- 7>&- 8<&- &
  limits="$limits $!"
}
signalled=
limits=
trap 'leave 143' TERM
trap 'leave 129' HUP
AGENTPIPE_RUN=$dir
export AGENTPIPE_RUN
if [ -z "\${AGENTPIPE_SUPERVISED-}" ]; then
  exec 3<&0
  if (: >&2); then exec 6>&2; else exec 6>/dev/null; fi
fi
if [ -n "\${AGENTPIPE_SUPERVISED-}" ]; then
  AGENTPIPE_WATCH_FD=8
  export AGENTPIPE_WATCH_FD
  guard >/dev/null 2>&1 6>&- 7>&- &
  limits=$!
fi
`
}

/** Said before anything is asked or done. */
function record({ record: file }: Settings): string {
  if (file === undefined) return ''
  const said = quote(`agentpipe: cannot write ${printable(file)}`)
  return `why=$({ true >>${quote(file)}; } 2>&1) || { printf '%s: %s\\n' ${said} "\${why##*: }" >&2; exit 73; }\n`
}

function session({ session: id, continue: goOn, interactive }: Settings): string {
  if (goOn) return `log=$(event-store path latest) || exit\nsession=\${log%/events.jsonl}\nsession=\${session##*/}\n`
  if (id !== undefined) return `session=${quote(id)}\n`
  return interactive ? 'session=\n' : ''
}

function input(settings: Settings): string {
  const history = resumes(settings) ? '\n  event-store history --or-none -- "$session" || exit' : ''
  const commands = settings['input-format'] === 'stream-json'
  return `# What agent-loop reads: ${history === '' ? '' : 'the session so far, '}the prompt as a frame, then ${commands ? 'the commands, and ' : ''}what comes round.
input() {
  # First of all, or tee would wait for it for ever when we are ended by an agent-loop that reads nothing.
  exec 5<"$dir/back"${history}
  ${commands ? '[ -z "$prompt" ] || ' : ''}printf "*2\\r\\n\\$10\\r\\nUSER_INPUT\\r\\n\\$%d\\r\\n%s\\r\\n" "$(printf %s "$prompt" | wc -c)" "$prompt"
  exec ${commands ? 'resp commands "$dir/back" <&3' : 'cat - <&5 5<&-'}
}
`
}

function pipeline(settings: Settings): string {
  const all: Link[] = [{ name: settings.interactive ? 'user-prompt' : 'input', words: 'input' }, ...links(settings)]
  const stages = all.map(({ name, words, foreign }) => `stage ${name} ${foreign ? 'named ' : ''}${words}`)
  const redirected = settings.interactive ? ' 2>>"$dir/errors" 6>&2' : ''
  return `reader=${endsInReader(settings) ? all.at(-1)?.name : ''}
{
  ${settings['output-format'] === 'stream-json' ? streamed(stages) : stages.join(' |\n  ')}
}${redirected} &
pipeline=$!
while kill -0 "$pipeline" 2>/dev/null; do wait "$pipeline"; done
if [ "\${AGENTPIPE_SUPERVISED-}" ] && [ -s "$dir/log" ]; then
  ${settings.interactive ? `sed 's/^/said /' "$dir/errors" >&7\n  ` : ''}echo "log $(cat "$dir/log")" >&7
fi
`
}

/** The last one gets what event-store prints on descriptor 4: so that it is seen when who reads the lines has left. */
function streamed(stages: readonly string[]): string {
  return `{ ${stages.slice(0, -1).join(' |\n    ')}; } 4>&1 |\n  ${stages.at(-1)}`
}

const CLOSING = `
for limit in $limits; do kill -s USR1 "$limit" 2>/dev/null; done
if [ -n "$signalled" ]; then
  sweep
  exit "$signalled"
fi

# The status of the whole is that of the stage that failed first. A reader that has left (141, SIGPIPE) is no failure of a stage.
first=
ended=
cut=
# Who was killed explains how the others ended, however soon they have said so.
killed=$(grep -s '^end [^ ]* 13[4-9]$' "$dir/status")
# tee has lost its reader: that left first, however soon the others have said how they ended.
left=$([ -z "$reader" ] || [ -n "$killed" ] || grep -qs "^end $reader 130$" "$dir/status" || grep -s '^end tee 141$' "$dir/status")
# A person has asked for the end: how the last turn ended is known.
asked=$(grep -s '^end user-prompt 0$' "$dir/status")
# Left before the first turn, by them or by an interrupt: runners miss its end, and may say so sooner than who left.
early=$asked$(grep -s '^end agent-loop 130$' "$dir/status")
while read -r event name status; do
  [ "$event" != left ] || [ -n "$killed" ] || left=yes
  [ "$event" = end ] || continue
  # tee ends with 0 only when what stands in front of it has ended, and may tell it sooner.
  [ "$name:$status" = tee:0 ] || first=\${first:-$name}
  [ "$name" != agent-loop ] || ended=yes
  [ "$status" != 69 ] || [ -z "$early" ] || continue
  # We have told it to leave, its reader having left.
  [ "$name:$status:$left" != agent-loop:143:yes ] || status=141
  case $name:$status in
    *:0) continue ;;
    tee:141) [ -z "$killed" ] || continue ;;
    tee:1) status=74 ;;
    agent-loop:141) cut=$first && continue ;;
    *:141) continue ;;
    agent-loop:130 | agent-loop:12[0-7] | agent-loop:[0-9] | agent-loop:[0-9][0-9])
      [ -z "$asked" ] || continue
      [ "$status$left" != 130yes ] || status=141
      ;;
    *:130) [ -z "$left" ] || status=141 ;;
    *:1[3-9]?) echo "agentpipe: $name was killed by SIG$(kill -l "$status")" >&2 ;;
    *) echo "agentpipe: $name failed first, with status $status" >&2 ;;
  esac
  sweep
  exit "$status"
done <"$dir/status"
if [ -n "$cut" ] && [ -n "$left" ]; then
  sweep
  exit 141
fi
if [ -n "$cut" ]; then
  echo "agentpipe: the ring was cut: $cut was the first stage to end" >&2
  sweep
  exit 69
fi
if [ -z "$ended" ]; then
  echo "agentpipe: no telling how the stages ended: cannot write $dir/status" >&2
  sweep
  exit 74
fi
`
