import type { Mode } from './options.js'
import { isWithin } from './paths.js'
import type { Rule } from './rules.js'
import { isSecret } from './secrets.js'
import { type ShellCommands, shellCommands, type Words } from './shell-commands.js'
import { possibleCommands, wrappedCommand } from './wrappers.js'

/** What is to become of a call, and the rule that says so. */
export interface Decision {
  readonly verdict: 'allow' | 'ask' | 'deny'
  readonly rule: string
}

export interface RuleSet {
  readonly allow: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly deny: readonly Rule[]
}

/** Real paths that the mode is about. */
export interface Places {
  /** Directories that may be written. */
  readonly writable: readonly string[]
  /** What tool-runner itself runs or obeys: a model that could write there would decide what it may do. */
  readonly guarded: readonly string[]
}

/** What a model writes there would run when somebody uses git: hooks, configuration, and what says that these are elsewhere; of submodules and worktrees too. */
const GIT_OBEYS = /\/\.git(?:$|\/(?:(?:modules|worktrees)\/(?:.*\/)?)?(?:hooks(?:\/|$)|(?:config(?:\.worktree)?|commondir|gitdir)$))/i

/**
 * What calls may do: what the user's rules say, else what the project's say, else what the mode says. `deny` goes before `ask`, and that before
 * `allow`. A project's rules can only take away: its `allow` makes exceptions of its own `ask`, and of nothing else.
 */
export class Policy {
  readonly #mode: Mode
  readonly #writable: readonly string[]
  readonly #guarded: readonly string[]
  readonly #user: RuleSet
  readonly #project: RuleSet

  constructor(mode: Mode, { writable, guarded }: Places, user: RuleSet, project: RuleSet) {
    this.#mode = mode
    this.#writable = writable
    this.#guarded = guarded
    this.#user = user
    this.#project = project
  }

  /** Whether no call of the tool could ever be anything but denied. */
  tool(name: string, readOnly: boolean): Decision {
    const byMode: Decision = this.#mode !== 'read-only' || readOnly ? this.#allowed() : this.#denied(`${name} can change things`)
    return this.#decide(name, (rule) => rule.all, byMode)
  }

  /** `path` is a real path. */
  read(tool: string, path: string): Decision {
    const secret = this.#mode !== 'full' && isSecret(path)
    return this.#decide(tool, (rule) => rule.matchesPath(path), secret ? this.#denied(`${path} holds secrets`) : this.#allowed())
  }

  /** `path` is a real path. */
  write(tool: string, path: string): Decision {
    return this.#decide(tool, (rule) => rule.matchesPath(path), this.#writeByMode(tool, path))
  }

  async command(text: string): Promise<Decision> {
    const byMode = this.#mode === 'read-only' ? this.#denied('Bash can change things') : this.#allowed()
    if (
      ![this.#user, this.#project].some((rules) =>
        Object.values(rules)
          .flat()
          .some((rule: Rule) => rule.concerns('Bash')),
      )
    )
      return byMode
    const shell = await shellCommands(text)
    const possible = shell.commands.flatMap(possibleCommands)
    const mayMatch = (rule: Rule) => rule.all || possible.some((words) => rule.matchesCommand(words))
    return this.#decide('Bash', mayMatch, byMode, (rules) => allowsCommands(rules, shell))
  }

  /** A private address has to be allowed by a rule that names the host: who allows WebFetch as a whole means the web. */
  fetch(host: string, isPrivate: boolean): Decision {
    const byMode = isPrivate && this.#mode !== 'full' ? this.#denied(`${host} is a private address`) : this.#allowed()
    const allows = (rules: readonly Rule[]) => rules.find((rule) => rule.matchesHost(host) && !(isPrivate && rule.all))?.text
    return this.#decide('WebFetch', (rule) => rule.matchesHost(host), byMode, allows)
  }

  skill(name: string): Decision {
    return this.#decide('Skill', (rule) => rule.matchesName(name), this.#allowed())
  }

  #decide(
    tool: string,
    matches: (rule: Rule) => boolean,
    byMode: Decision,
    allows: (rules: readonly Rule[]) => string | undefined = (rules) => rules.find(matches)?.text,
  ): Decision {
    const about = (rules: readonly Rule[]) => rules.filter((rule) => rule.concerns(tool))
    const [user, project] = [this.#user, this.#project]
    const denied = about([...user.deny, ...project.deny]).find(matches)
    if (denied) return { verdict: 'deny', rule: `deny ${denied.text}` }
    const asked = about(user.ask).find(matches)
    if (asked) return { verdict: 'ask', rule: `ask ${asked.text}` }
    const allowed = allows(about(user.allow))
    if (allowed !== undefined) return { verdict: 'allow', rule: `allow ${allowed}` }
    if (byMode.verdict === 'deny') return byMode
    const projectAsks = about(project.ask).find(matches)
    if (projectAsks && allows(about(project.allow)) === undefined) return { verdict: 'ask', rule: `ask ${projectAsks.text} of the project` }
    return byMode
  }

  #writeByMode(tool: string, path: string): Decision {
    if (this.#mode === 'read-only') return this.#denied(`${tool} can change things`)
    if (this.#mode === 'full') return this.#allowed()
    if (this.#guarded.some((guarded) => isWithin(guarded, path))) return this.#denied(`what tool-runner runs or obeys is in ${path}`)
    if (GIT_OBEYS.test(path)) return this.#denied(`git runs or obeys ${path}`)
    if (this.#writable.some((directory) => isWithin(directory, path))) return this.#allowed()
    return this.#denied(`${path} is outside ${this.#writable.join(' and ')}`)
  }

  #allowed(): Decision {
    return { verdict: 'allow', rule: `--mode ${this.#mode}` }
  }

  #denied(why: string): Decision {
    return { verdict: 'deny', rule: `--mode ${this.#mode}: ${why}` }
  }
}

/** The rules that together allow all that a command line does; undefined if they don't. */
function allowsCommands(rules: readonly Rule[], { commands, unclear }: ShellCommands): string | undefined {
  const whole = rules.find(({ all }) => all)
  if (whole) return whole.text
  if (unclear !== undefined || commands.length === 0) return undefined
  const used = commands.map((words) => allowing(rules, words))
  return used.includes(undefined) ? undefined : [...new Set(used)].join(', ')
}

function allowing(rules: readonly Rule[], words: Words): string | undefined {
  const rule = rules.find((each) => each.matchesCommand(words))
  const inner = wrappedCommand(words)
  return rule?.text ?? (inner && allowing(rules, inner))
}
