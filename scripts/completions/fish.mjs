/** In fish each option and each verb is a line, with the verb that it belongs to as its condition. Where an operand stands among others is not looked at. */
export function fish(executables) {
  return `# Completion of agentpipe and its stages in fish. Made by scripts/completions.mjs.

function __agentpipe_sessions
    env COLUMNS=9999 event-store list 2>/dev/null | string replace -r ' .*' ''
end

${executables.flatMap(lines).join('\n')}
`
}

function lines({ name, verbs, forms }) {
  const complete = `complete -c ${name}`
  const without = verbs.length === 0 ? '' : ` -n ${quoted(`not __fish_seen_subcommand_from ${verbs.join(' ')}`)}`
  return [
    // Twice in a session it may be loaded under two names.
    `${complete} -e`,
    `${complete} -f`,
    ...forms.flatMap(({ verb, about, options, operands }) => {
      const when = verb === undefined ? without : ` -n ${quoted(`__fish_seen_subcommand_from ${verb}`)}`
      const asVerb = verb === undefined ? [] : [`${complete} -n __fish_use_subcommand -a ${verb} -d ${quoted(about)}`]
      const words = operands.filter((kinds) => kinds.length > 0).map((kinds) => `${complete}${when} ${values(kinds, true)}`)
      return [...asVerb, ...options.map((option) => `${complete}${when} ${optionWords(option)}`), ...words]
    }),
  ]
}

function optionWords({ name, about, kinds }) {
  const value = kinds === undefined ? '' : ` ${kinds.length === 0 ? '-x' : values(kinds, false)}`
  return `-l ${name}${value} -d ${quoted(about)}`
}

/** What completes a value; files beside it only where they are one. */
function values(kinds, operand) {
  const offered = kinds.filter((kind) => kind !== 'file').map((kind) => CALLS[kind] ?? kind)
  const files = kinds.includes('file') ? (operand ? '-F' : '-r -F') : operand ? '-f' : '-x'
  return offered.length === 0 ? files : `${files} -a ${quoted(offered.join(' '))}`
}

const CALLS = { directory: '(__fish_complete_directories)', session: '(__agentpipe_sessions)', command: '(__fish_complete_command)' }

function quoted(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
