import { randomBytes } from 'node:crypto'

/** Names of variables that hold keys, by what people call them. SSH_AUTH_SOCK and the like, which hold none, are not among them. */
const SECRET = /(^|_)(API_?KEYS?|ACCESS_?KEYS?|PRIVATE_?KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)\d*(_|$)|_KEY\d*$/i
/** What keys of well-known services begin with, whatever the variable is called. */
const SECRET_VALUE = /^(sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|hf_|npm_).{16}/s
/** Ours are no business of commands (but for AGENTPIPE_RUN, by which agentpipe finds what is to end with a run), and those that force colours neither. */
const DROPPED = /^(AGENTPIPE_(?!RUN$)|FORCE_COLOR$|CLICOLOR_FORCE$|OLDPWD$)/

/** No pager, no editor, no question and no advertisement: nobody is there to use, answer or heed it. */
const NOBODY_THERE = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  TERM: 'dumb',
  NO_COLOR: '1',
  NO_UPDATE_NOTIFIER: '1',
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
}

/** Stands in the environment of every command: what leaves its process group is found by it, when we end. */
const MARK_NAME = 'AGENTPIPE_COMMANDS'
const MARK_VALUE = `${process.pid}-${randomBytes(4).toString('hex')}`
export const COMMANDS_MARK = `${MARK_NAME}=${MARK_VALUE}`

/**
 * The environment of a command that runs in `directory`: ours without keys, but for those that `added` names, and with what keeps programs from waiting
 * for a person.
 */
export function commandEnvironment(directory: string, added: readonly string[] = NONE): Record<string, string> {
  const kept = keptVariables.get(added) ?? keepVariables(added)
  return { ...kept, ...NOBODY_THERE, [MARK_NAME]: MARK_VALUE, PWD: directory }
}

const NONE: readonly string[] = []

/** Our own environment doesn't change, and to go through it takes a millisecond. */
const keptVariables = new WeakMap<readonly string[], Readonly<Record<string, string>>>()

function keepVariables(added: readonly string[]): Readonly<Record<string, string>> {
  const isKept = (name: string, value: string) => added.includes(name) || !(SECRET.test(name) || SECRET_VALUE.test(value) || DROPPED.test(name))
  const kept = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => isKept(entry[0], entry[1] ?? '')))
  keptVariables.set(added, kept)
  return kept
}
