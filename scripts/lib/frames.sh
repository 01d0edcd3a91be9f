# shellcheck shell=bash
# Frames, as frames(5) has them, for stages in bash 4.1 or newer:
#
#   . frames.sh
#   frame_write TYPE [FIELD...]   writes a frame
#   frame_read                    reads the next frame into the array `frame`, its type first. Status 0; 1 at the end
#                                 of the input; 65, after a line on stderr, when the input is no frame or ends inside one
#   frame_pass                    writes the frame just read, byte for byte
#   frame_attribute NAME [FIRST]  sets REPLY to an attribute of the frame just read, whose attributes begin at field
#                                 FIRST (4, as in TOOL_CALL and TOOL_RESULT); status 1 if it is not there
#   frame_each COMMAND [ARG...]   runs COMMAND for each frame, to the end of the input; its status is 0 or 65
#
# Fields are any bytes but NUL, which no variable of bash can hold. Bash skips NULs as it reads, so that the lengths of
# a frame with a NUL are wrong: it is refused.

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 401)); then
  echo "frames.sh: needs bash 4.1 or newer, this is $BASH_VERSION" >&2
  exit 78
fi

frame=()
frame_status=0 # of the last frame_read
frame_offset=0 # in bytes: where the next frame begins

frame_write() {
  local LC_ALL=C
  local -a frame=("$@")
  if [[ ! ${1-} =~ ^[A-Z][A-Z0-9_]*$ ]]; then
    printf '%s: a frame needs a type of A-Z, 0-9 and _, not %q\n' "${0##*/}" "${1-}" >&2
    return 64
  fi
  frame_pass
}

frame_pass() {
  # In the C locale bash counts bytes.
  local LC_ALL=C header="*${#frame[@]}"$'\r\n' index
  local -a parts=()
  for index in "${!frame[@]}"; do
    parts+=("$header" "${#frame[index]}" "${frame[index]}")
    header=
  done
  # One call, so that a frame of up to PIPE_BUF bytes is one write.
  printf '%s$%d\r\n%s\r\n' "${parts[@]}"
}

frame_read() {
  local LC_ALL=C IFS='' at=$frame_offset count field REPLY
  frame=()
  frame_status=0
  if ! _frame_header '*' 1024 'fields in a frame'; then return "$frame_status"; fi
  if ((REPLY == 0)); then _frame_refuse "$frame_offset" 'a count of at least 1' '*0'; return; fi
  for ((count = REPLY; count > 0; count--)); do
    if ! _frame_header '$' 67108864 'bytes in a field'; then return "$frame_status"; fi
    if ((at + REPLY + 2 - frame_offset > 134217728)); then
      _frame_refuse "$at" 'at most 134217728 bytes in a frame' "$REPLY more"
      return
    fi
    if ! read -r -N $((REPLY + 2)) field; then _frame_truncated $((at + ${#field})); return; fi
    if [[ ${field:REPLY} != $'\r\n' ]]; then
      _frame_refuse $((at + REPLY)) "CRLF after $REPLY-byte field" "${field:REPLY}"
      return
    fi
    frame[${#frame[@]}]=${field:0:REPLY} # += would copy a large field twice
    at=$((at + REPLY + 2))
  done
  if [[ ! ${frame[0]} =~ ^[A-Z][A-Z0-9_]*$ ]]; then
    _frame_refuse "$frame_offset" 'a type of A-Z, 0-9 and _' "${frame[0]}"
    return
  fi
  frame_offset=$at
}

frame_attribute() {
  local index
  REPLY=
  for ((index = ${2:-4}; index + 1 < ${#frame[@]}; index += 2)); do
    if [[ ${frame[index]} == "$1" ]]; then
      REPLY=${frame[index + 1]}
      return
    fi
  done
  return 1
}

frame_each() {
  while frame_read; do "$@"; done
  [[ $frame_status == 1 ]] || return "$frame_status"
}

# _frame_header MARKER LIMIT WHAT: reads the line of a count or a length, sets REPLY to the number and moves `at`, both
# of frame_read. Byte by byte, since what follows the line must stay in the pipe; -d '' ends at a NUL, -N would skip it.
_frame_header() {
  local line byte ended=
  if ! read -r -d '' -n 4 line; then # no header is shorter than `$0` CRLF
    ended=yes
  elif ((${#line} < 4)); then
    line+='\0'
  fi
  while [[ ! $ended ]] && ((${#line} < 13)) && _frame_header_begins "$1" "$line"; do
    if read -r -d '' -n 1 byte; then line+=${byte:-'\0'}; else ended=yes; fi
  done
  REPLY=${line#"$1"}
  REPLY=${REPLY%$'\r\n'}
  if [[ $line != "$1$REPLY"$'\r\n' || ! $REPLY || $REPLY == *[!0-9]* || $REPLY == 0?* ]]; then
    if [[ $ended && ! $line && $1 == '*' ]]; then return $((frame_status = 1)); fi
    if [[ $ended ]] && _frame_header_begins "$1" "$line"; then _frame_truncated $((at + ${#line})); return; fi
    _frame_refuse "$at" "$1, a number without leading zero, CRLF" "$line"
  elif ((REPLY > $2)); then
    _frame_refuse $((at + 1)) "at most $2 $3" "$REPLY"
  else
    at=$((at + ${#line}))
  fi
}

# Whether LINE is a header that only lacks its end.
_frame_header_begins() { [[ ! $2 || $2 == "$1"*$'\r' || ($2 == "$1"* && ${2:1} != *[!0-9]*) ]]; }

# _frame_refuse OFFSET EXPECTED FOUND
_frame_refuse() {
  printf '%s: expected %s at byte %d, found %q\n' "${0##*/}" "$2" "$1" "${3:0:16}" >&2
  return $((frame_status = 65))
}

# _frame_truncated OFFSET
_frame_truncated() {
  printf '%s: truncated at byte %d: the input ends inside the frame that begins at byte %d\n' "${0##*/}" "$1" "$frame_offset" >&2
  return $((frame_status = 65))
}
