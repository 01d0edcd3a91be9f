import { homedir } from 'node:os'
import { usage } from '@agentpipe/stage'
import picomatch from 'picomatch'
import type { Words } from './shell-commands.js'
import { isWrapper } from './wrappers.js'

/** Tools whose rules are about paths, and those whose names stand for each other: who forbids Edit means Write as well. */
const SAME: Readonly<Record<string, string>> = { Read: 'Read', Glob: 'Read', Grep: 'Read', Write: 'Write', Edit: 'Write' }

/** A rule like `Bash(git diff:*)`, `Edit(src/**)`, `WebFetch(example.com)`, `github__*`. */
export interface Rule {
  /** As it was written. */
  readonly text: string
  /** Whether it is about `tool`. */
  concerns(tool: string): boolean
  /** Whether it is about all that the tool does. */
  readonly all: boolean
  matchesPath(path: string): boolean
  matchesCommand(words: Words): boolean
  matchesHost(host: string): boolean
  matchesName(name: string): boolean
}

/** Reads a rule. Relative paths are those of `workspace`. Throws StageError (64), which names `source`, for what is none. */
export function parseRule(text: string, workspace: string, source: string): Rule {
  const [, tool, inner] = /^([A-Za-z0-9_*-]+)(?:\(([\s\S]*)\))?$/.exec(text.trim()) ?? []
  if (tool === undefined) throw usage(`${source}: expected a rule like Bash(git diff:*) or Edit(src/**), found ${JSON.stringify(text)}`)
  const all = inner === undefined || inner === '*' || inner === '**'
  const path = all ? () => true : pathMatcher(inner, workspace)
  const command = commandPattern(inner ?? '')
  return {
    text: text.trim(),
    all,
    concerns: (name) => nameMatches(tool, name),
    matchesPath: (given) => path(given),
    matchesCommand: (words) => all || commandMatches(command, words),
    matchesName: (name) => all || picomatch.isMatch(name, inner),
    matchesHost: (host) => all || host === inner || host.endsWith(`.${inner.replace(/^\*\./, '')}`),
  }
}

function nameMatches(pattern: string, name: string): boolean {
  if (pattern.includes('*')) return picomatch.isMatch(name, pattern)
  return pattern === name || (SAME[pattern] !== undefined && SAME[pattern] === SAME[name])
}

/** As in .gitignore: without a slash a pattern is for names at any depth; a directory is all that is in it. */
function pathMatcher(pattern: string, workspace: string): (path: string) => boolean {
  const expanded = pattern === '~' || pattern.startsWith('~/') ? homedir() + pattern.slice(1) : pattern.replace(/^\.\//, '')
  const anywhere = !expanded.replace(/\/$/, '').includes('/')
  const absolute = expanded.startsWith('/') ? expanded : `${escaped(workspace)}/${anywhere ? '**/' : ''}${expanded}`
  const base = absolute.replace(/\/(?:\*\*)?$/, '')
  return base === '' ? () => true : picomatch([base, `${base}/**`], { dot: true })
}

function escaped(path: string): string {
  return path.replace(/[\\*?[\]{}()!+@]/g, '\\$&')
}

interface CommandPattern {
  readonly words: readonly string[]
  /** More words may follow. */
  readonly open: boolean
}

function commandPattern(text: string): CommandPattern {
  const open = /(?::| )\*$/.test(text)
  const words = text
    .replace(/(?::| )\*$/, '')
    .split(/\s+/)
    .filter((word) => word !== '')
  return { words, open }
}

function commandMatches({ words, open }: CommandPattern, given: Words): boolean {
  if (words.length === 0 || given.length < words.length || (!open && given.length > words.length)) return false
  if (!words.every((word, index) => word === given[index])) return false
  // Who allows xargs has said nothing of what it runs.
  return !open || words.length > 1 || !isWrapper(given)
}
