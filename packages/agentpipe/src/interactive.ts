import { handedOn, type Settings } from './options.js'
import { quote } from './quote.js'

/** Turns of a session that is gone on with that are shown again. */
const SHOWN_TURNS = 3

/** Keeps the terminal's modes, before any process that waits for the end of things is started. */
export const TERMINAL = `
# However this ends, the terminal is again as it is now. Left alone where somebody else has set it meanwhile: user-prompt's raw mode is known by -isig.
modes=$(stty -g </dev/tty 2>/dev/null) || {
  echo 'agentpipe: cannot open the terminal; without one it needs a prompt: agentpipe "fix the failing test"' >&2
  exit 69
}
report tty "$modes"
restore() (
  trap '' TTOU
  case $(stty -a </dev/tty 2>/dev/null) in *-isig*) stty "$modes" </dev/tty ;; esac
)
# What stages say on standard error is shown by resp-render; when they have failed it is said again below.
: >"$dir/errors"
leave_terminal() {
  restore
  grep -qs '^end resp-render 0$' "$dir/status" || printf '\\033[?2004l\\033[0m' >/dev/tty
  [ "$1" = 0 ] || cat "$dir/errors" >&3
} 3>&2 2>/dev/null
trap 'status=$?; leave_terminal "$status"; rm -rf "$dir"; exit "$status"' EXIT
`

/** The head of the pipeline: user-prompt reads what comes round, the session so far goes before what it writes. */
export function interactiveInput(settings: Settings): string {
  const words = ['user-prompt', ...handedOn('user-prompt', settings)].map(quote).join(' ')
  return `# What agent-loop reads: the session so far, what is typed, then what comes round.
input() {
  exec <"$dir/back"
  [ -z "$session" ] || event-store history --or-none -- "$session" </dev/null || exit
  exec ${words} --errors="$dir/errors" --next="$dir/next"
}

# The last turns of the session that is gone on with.
recall() {
  [ -n "$session" ] || return
  event-store replay --last ${SHOWN_TURNS} -- "$session" 2>/dev/null </dev/null | ${['resp-render', ...handedOn('resp-render', settings)].map(quote).join(' ')}
}
`
}

/** Runs a pipeline, and another one as often as user-prompt has named a session to go on with. */
export function again(pipeline: string): string {
  return `while :; do
recall
${pipeline}
[ -z "$signalled" ] || break
[ -s "$dir/next" ] || break
session=$(cat "$dir/next")
rm -f "$dir/next"
: >"$dir/status"
: >"$dir/errors"
done
`
}
