#!/usr/bin/env bash
# A stage in awk, between two programs that turn frames into lines of JSON and back: says at the end on stderr which tools the model has called.
set -o pipefail
trap '' INT
# mawk, the awk of Debian, reads ahead unless it is told not to, and the ring would stand still.
case $(awk -W version 2>&1 </dev/null) in mawk*) line_by_line=(-W interactive) ;; esac
resp json | awk "${line_by_line[@]}" '
  { print; fflush() }
  /^{"type":"tool_call"/ { split($0, member, "\""); calls[member[8]]++ }
  END { for (name in calls) print name ": " calls[name] > "/dev/stderr" }
' | resp unjson
