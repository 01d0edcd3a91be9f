#!/usr/bin/env bash
# A stage in ten lines: passes every frame on as it came, and says at the end on stderr how many tools the model has called.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/frames.sh" || exit
trap '' INT
calls=0
while frame_read; do
  frame_pass
  if [[ ${frame[0]} == TOOL_CALL ]]; then calls=$((calls + 1)); fi
done
echo "tools called: $calls" >&2
if ((frame_status != 1)); then exit "$frame_status"; fi
