/** In zsh each form is a call of _arguments. The last lines are for both ways to load it: from a directory of fpath, and by `source`. */
export function zsh(executables) {
  const names = executables.map(({ name }) => name).join(' ')
  return `#compdef ${names}
# Completion of agentpipe and its stages in zsh. Made by scripts/completions.mjs.

_agentpipe_sessions() {
  local -a ids
  ids=(\${\${(f)"$(COLUMNS=9999 event-store list 2>/dev/null)"}%% *})
  compadd -a ids
}

_agentpipe() {
  local form=$service
  local -a verbs
  case $form in
${executables.flatMap(verbRow).join('\n')}
  esac
  if (( CURRENT > 2 )) && [[ -n $verbs[(r)$words[2]:*] ]]; then
    form="$form $words[2]"
    shift words
    (( CURRENT-- ))
  elif (( CURRENT == 2 && $#verbs )); then
    _describe -t verbs verb verbs
  fi
  case $form in
${executables.flatMap(({ name, forms }) => forms.map((form) => formRow(name, form))).join('\n')}
  esac
}

if [[ $funcstack[1] == _agentpipe ]]; then _agentpipe "$@"; else compdef _agentpipe ${names}; fi
`
}

function verbRow({ name, forms }) {
  const verbs = forms.filter(({ verb }) => verb !== undefined).map(({ verb, about }) => quoted(`${verb}:${colons(about)}`))
  return verbs.length === 0 ? [] : [`    ${name}) verbs=(${verbs.join(' ')}) ;;`]
}

function formRow(name, { verb, options, operands, repeats }) {
  const all = operands.map((kinds, index) =>
    quoted(`${repeats && index === operands.length - 1 ? '*' : ''}:${kinds.length === 0 ? 'text' : 'operand'}:${action(kinds)}`),
  )
  const words = ['_arguments -S', ...options.map(optionWord), ...all]
  return `    ${quoted(verb === undefined ? name : `${name} ${verb}`)})\n      ${words.join(' \\\n        ')} ;;`
}

function optionWord({ name, about, value, list, kinds }) {
  const described = `${list ? '*' : ''}--${name}${kinds === undefined ? '' : '='}[${colons(about).replaceAll(/[[\]]/g, '\\$&')}]`
  return quoted(kinds === undefined ? described : `${described}:${colons(value ?? 'value')}:${action(kinds)}`)
}

function action(kinds) {
  const plain = kinds.filter((kind) => !Object.hasOwn(ACTIONS, kind))
  const followed = plain.some((word) => word.endsWith('='))
  const calls = [...(plain.length === 0 ? [] : [`compadd ${followed ? '-S "" ' : ''}-- ${plain.join(' ')}`]), ...kinds.flatMap((kind) => ACTIONS[kind] ?? [])]
  // A blank completes nothing.
  return calls.length === 0 ? ' ' : `{${calls.join('; ')}}`
}

const ACTIONS = { file: '_files', directory: '_files -/', session: '_agentpipe_sessions', command: '_command_names -e' }

function colons(text) {
  return text.replaceAll('\\', '\\\\').replaceAll(':', '\\:')
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
