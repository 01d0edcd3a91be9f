#!/usr/bin/env bash
# A tool-runner in bash: Bash, Read and Edit in the current directory, one call at a time, without asking. It takes
# tool-runner's place in the line as it stands:
#   TOOL_RUNNER=scripts/examples/tool-runner.bash scripts/agent "fix the failing test"
. "$(dirname "${BASH_SOURCE[0]}")/../lib/frames.sh" || exit

declare -A tools=(
  [Bash]='"command":{"type":"string"},"timeout":{"type":"integer","description":"seconds"}},"required":["command"]'
  [Read]='"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]'
  [Edit]='"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"}},"required":["path","old_string","new_string"]'
)
calls=()    # to be run: the fields of each, quoted
pending=' ' # their ids, and that of the call that runs
stopped=' ' # the ids that were interrupted
turn=over   # from HELLO to STOP somebody waits for our results
scratch=$(mktemp -d) || exit 73
trap '[[ $BASHPID != "$$" ]] || rm -rf "$scratch"' EXIT # not in a subshell that a signal ends
trap '' INT # interrupts come as frames

# The next frame goes on, our tools in front of HELLO; what is for us is put aside.
next() {
  local tool ours=
  if ((frame_status)) || ! frame_read; then return 1; fi
  for tool in "${!tools[@]}"; do
    if [[ ${frame[0]} == HELLO ]]; then
      frame_write TOOL_DEF "$tool" "$tool, without asking" "{\"type\":\"object\",\"properties\":{${tools[$tool]}}"
    fi
    if [[ ${frame[1]-} == "$tool" ]]; then ours=$tool; fi
  done
  frame_pass
  case ${frame[0]}:$ours in
    HELLO:*) turn=open ;;
    STOP:*) turn=over ;;
    TOOL_DEF:?*) if [[ $turn == over ]]; then unset "tools[$ours]"; fi ;; # a runner in front of us has it
    TOOL_CALL:?*)
      printf -v "calls[${#calls[@]}]" '%q ' "${frame[@]}"
      pending+="${frame[2]} " ;;
    INTERRUPT:*) if frame_attribute call 2; then stopped+="$REPLY "; else stopped+=$pending; fi ;;
  esac
}

# Does what the call in `frame` asks for, and prints what the model is told.
act() {
  local path=/dev/null old='' new='' text
  if [[ $stopped == *" ${frame[2]} "* ]]; then return 1; fi
  if frame_attribute path; then path=$REPLY; fi
  if frame_attribute old_string; then old=$REPLY; fi
  if frame_attribute new_string; then new=$REPLY; fi
  case ${frame[1]} in
    Bash)
      frame_attribute command || { echo 'there is no command'; return 1; }
      printf '%s\n' "$REPLY" >"$scratch/command" # as an argument it could be too long
      frame_attribute timeout || REPLY=120
      exec timeout -k 5 -- "$REPLY" bash "$scratch/command" ;;
    Read)
      frame_attribute limit || REPLY=2000
      text=$REPLY
      frame_attribute offset || REPLY=1
      exec awk -v from="$REPLY" -v count="$text" 'NR >= from && NR < from + count' <"$path" ;;
    Edit)
      local LC_ALL=C # any bytes
      text=$(cat -- "$path" && echo .) || return
      text=${text%.}
      if ! printf %s "$text" | cmp -s - "$path"; then echo "$path is no text"; return 1; fi
      if [[ ! $old || $text != *"$old"* || ${text#*"$old"} == *"$old"* ]]; then echo "old_string must stand in $path once"; return 1; fi
      printf %s "${text%%"$old"*}$new${text#*"$old"}" >"$path" && echo "edited $path" ;;
  esac
}

# Runs the call in `frame`, while other frames go on.
run() {
  local name=${frame[1]} id=${frame[2]} status=error code output attributes=()
  : >"$scratch/output" # it may be killed before it opens it
  act >"$scratch/output" 2>&1 </dev/null &
  while kill -0 $! 2>/dev/null; do
    if [[ $stopped == *" $id "* || ($turn == open && $frame_status != 0) ]]; then
      kill -KILL $! -$! 2>/dev/null # timeout(1) leads a process group
      break
    fi
    if ((frame_status)) || ! read -r -t 0; then sleep 0.02; else next; fi
  done
  wait $! 2>/dev/null && code=0 || code=$?
  case $code in 0) status=ok ;; 124) status=timeout ;; esac
  if [[ $stopped == *" $id "* ]]; then status=cancelled; fi
  if [[ $name == Bash ]]; then attributes=(exit_code "$code"); fi
  output=$(head -c 100000 "$scratch/output" | tr -d '\0' && echo .) # its last newlines are kept
  frame_write TOOL_RESULT "$id" "$name" "${output%.}" status "$status" "${attributes[@]}"
  pending=${pending/" $id "/ }
}

while ((${#calls[@]})) || next; do
  if ((${#calls[@]} == 0)); then continue; fi
  eval "frame=(${calls[0]})"
  calls=("${calls[@]:1}")
  run
done
if ((frame_status == 65)); then exit 65; fi
if [[ $turn == open ]]; then exit 69; fi
