/** In bash all is one function and a table: what stands in the table for an option is `--mode=read-only,workspace`, with @ in front of kinds. */
export function bash(executables) {
  return `# Completion of agentpipe and its stages in bash: source it, or put it where bash-completion looks. Made by scripts/completions.mjs.

_agentpipe_table() {
  case $1 in
${executables.flatMap(rows).join('\n')}
  esac
}

_agentpipe() {
  local IFS=$' \\t\\n' form=\${1##*/} verbs='' operands='' options='' kinds='' takes='' ended='' count=0 index=1 word kind
  local current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  _agentpipe_table "$form"
  word=" $verbs "
  if [[ $COMP_CWORD -gt 1 && $word == *" \${COMP_WORDS[1]} "* ]]; then
    form="$form \${COMP_WORDS[1]}" verbs='' operands='' options='' index=2
    _agentpipe_table "$form"
  fi
  # Where = and : break words, --mode=full is three of them.
  for (( ; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == [=:]* ]]; then
      takes=\${takes:-@file}
    elif [[ $takes ]]; then
      takes=''
    elif [[ ! $ended && $word == -- ]]; then
      ended=1
    elif [[ ! $ended && $word == -?* ]]; then
      for kind in $options; do
        if [[ $kind == "$word="* ]]; then takes=\${kind#*=}; fi
      done
    else
      count=$((count + 1))
    fi
  done
  if [[ $current == [=:] ]]; then takes=\${takes:-@file} current=''; fi
  if [[ $takes ]]; then
    kinds=$takes
  elif [[ ! $ended && $current == -* ]]; then
    for kind in $options; do kinds=$kinds,\${kind%%=*}; done
  else
    for kind in $operands; do
      kinds=$kind
      if [[ $((count--)) == 0 ]]; then break; fi
    done
    if [[ $COMP_CWORD == 1 ]]; then kinds=$kinds,\${verbs// /,}; fi
  fi
  # What readline does where there is no word of ours: the names of files, which it quotes as they need it.
  case ,$kinds, in
    *,@file,*) ;;
    *,@directory,*) compopt -o dirnames +o default 2>/dev/null ;;
    *) compopt +o default 2>/dev/null ;;
  esac
  for kind in \${kinds//,/ }; do
    case $kind in
      @session)
        while read -r word _; do
          if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
        done < <(COLUMNS=9999 event-store list 2>/dev/null)
        ;;
      @command) while read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$current") ;;
      @*) ;;
      "$current"*)
        COMPREPLY+=("$kind")
        if [[ $kind == *= ]]; then compopt -o nospace 2>/dev/null; fi
        ;;
    esac
  done
}

complete -o default -F _agentpipe ${executables.map(({ name }) => name).join(' ')}
`
}

function rows({ name, verbs, forms }) {
  return forms.map(({ verb, options, operands, repeats }) => {
    const all = [...operands.map(coded), ...(repeats ? [] : ['@none'])]
    const own = options.map((option) => `--${option.name}${option.kinds === undefined ? '' : `=${coded(option.kinds)}`}`)
    const ofVerbs = verb === undefined ? ` verbs='${verbs.join(' ')}'` : ''
    return `    '${verb === undefined ? name : `${name} ${verb}`}')${ofVerbs} operands='${all.join(' ')}' options='${own.join(' ')}' ;;`
  })
}

const KINDS = ['file', 'directory', 'session', 'command']

function coded(kinds) {
  return kinds.length === 0 ? '@none' : kinds.map((kind) => (KINDS.includes(kind) ? `@${kind}` : kind)).join(',')
}
