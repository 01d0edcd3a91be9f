#!/usr/bin/env bash
# Lets text appear at the pace at which a model writes it: for a replay that somebody watches.
#   agentpipe --before resp-render=scripts/examples/typewriter.bash --provider replay --from session.resp "the same again"
. "$(dirname "${BASH_SOURCE[0]}")/../lib/frames.sh"
typewriter() {
  case ${frame[0]} in TEXT | THINKING) sleep 0.03 ;; TOOL_CALL) sleep 0.3 ;; esac
  frame_pass
}
trap '' INT
frame_each typewriter
