#!/usr/bin/env bash
# A stage in ten lines: says on stderr how many tools the model has called. Every frame goes on as it came.
#   agentpipe --before event-store=scripts/examples/count.bash "fix the failing test"
. "$(dirname "${BASH_SOURCE[0]}")/../lib/frames.sh"
trap '' INT
while frame_read; do
  frame_pass
  if [[ ${frame[0]} == TOOL_CALL ]]; then echo "calls: $((++calls))" >&2; fi
done
if ((frame_status != 1)); then exit "$frame_status"; fi
