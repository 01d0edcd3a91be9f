#!/usr/bin/env bash
# A stage that changes what it reads: the model speaks in capitals.
. "$(dirname "${BASH_SOURCE[0]}")/../lib/frames.sh" || exit
trap '' INT
while frame_read; do
  if [[ ${frame[0]} == TEXT ]]; then frame[1]=${frame[1]^^}; fi
  frame_pass
done
if ((frame_status != 1)); then exit "$frame_status"; fi
