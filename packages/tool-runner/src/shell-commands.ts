import type { Command, Redirect, SyntaxNode, Word, WordPart } from 'unbash'
import { isWrapper } from './wrappers.js'

/** A command as one process runs it: its words, undefined for one that is only known when it runs (`$x`, `*.c`). */
export type Words = readonly (string | undefined)[]

export interface ShellCommands {
  /** Every command that the text runs, or may: chained, piped, substituted, in functions and in strings that a shell is given. */
  readonly commands: readonly Words[]
  /**
   * Why it can't be told what the text does beyond its commands: it can't be parsed, writes a file, sets a variable, defines a function,
   * computes. Undefined where it does nothing but run its commands.
   */
  readonly unclear: string | undefined
}

/** Constructs that do nothing but run the commands in them. */
const PLAIN: ReadonlySet<string> = new Set<SyntaxNode['type']>([
  'Script',
  'Statement',
  'CompoundList',
  'Command',
  'AndOr',
  'Pipeline',
  'Time',
  'Negation',
  'Subshell',
  'BraceGroup',
  'If',
  'Elif',
  'For',
  'While',
  'Redirected',
  'Redirect',
  'FileDescriptor',
  'HereDoc',
  'HereDocDelimiter',
  'HereDocBody',
  'HereString',
  'Word',
  'Literal',
  'Glob',
  'SingleQuoted',
  'DoubleQuoted',
  'AnsiCQuoted',
  'BraceExpansion',
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ProcessSubstitution',
])

/** A variable of `for` that no program or shell obeys, as they do PATH, LD_PRELOAD and http_proxy. */
const HARMLESS_VARIABLE = /^[a-z][a-z0-9]*$/

/** Shells, which run what stands in a word of theirs. */
const SHELLS = /^(?:.*\/)?(?:sh|bash|dash|ash|zsh|ksh|mksh|eval|source|trap|\.)$/
/** Scripts in words of scripts in words ...: deeper ones are not looked at. */
const DEEPEST = 5

/** What a text does as a command line of bash. */
export async function shellCommands(text: string): Promise<ShellCommands> {
  const { forEachChild, parse } = await import('unbash')
  const commands: Words[] = []
  let unclear: string | undefined
  const read = (script: string, depth: number): void => {
    const visit = (node: SyntaxNode): void => {
      if ('errors' in node && node.errors?.length) unclear ??= `it can't be parsed: ${node.errors[0]?.message}`
      if (!PLAIN.has(node.type)) unclear ??= `it has a construct of the kind ${node.type}`
      if (node.type === 'Redirect' && writes(node)) unclear ??= 'it redirects into a file'
      if (node.type === 'For' && !HARMLESS_VARIABLE.test(node.name.value)) unclear ??= `it sets ${node.name.value}`
      if (node.type === 'ParameterExpansion' && (node.prefix === '!' || node.index !== undefined)) unclear ??= 'it has an indirect expansion'
      if (node.type === 'Command') command(node)
      forEachChild(node, visit)
    }
    const command = (node: Command): void => {
      const words = wordsOf(node)
      if (words.length > 0) commands.push(words)
      const shell = words.findIndex((word, index) => word !== undefined && SHELLS.test(word) && (index === 0 || isWrapper(words)))
      if (shell < 0) return
      unclear ??= `${words[shell]} runs a text`
      if (depth < DEEPEST) for (const word of words.slice(shell + 1)) if (word !== undefined && !word.startsWith('-')) read(word, depth + 1)
    }
    visit(parse(script))
  }
  read(text, 0)
  return { commands, unclear }
}

function wordsOf({ name, suffix }: Command): Words {
  const all = [name, ...suffix].filter((word): word is Word => word?.type === 'Word')
  return all.map(literal)
}

/** What a word is, whatever the shell knows when it runs; undefined where that depends. */
function literal({ value, text, parts }: Word): string | undefined {
  if (parts === undefined) return text.startsWith('~') ? undefined : value
  return parts.every(isLiteral) ? value : undefined
}

function isLiteral(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isLiteral)
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}

/** Whether a redirection can change a file: `2>&1`, `<file` and `>/dev/null` can't. */
function writes({ operator, target }: Redirect): boolean {
  const to = target === undefined ? undefined : literal(target)
  if (operator === '<') return to === undefined || /^\/dev\/(?:tcp|udp)\//.test(to)
  if (operator === '<&') return false
  if (operator === '>&' && to !== undefined && /^(\d+|-)$/.test(to)) return false
  return to !== '/dev/null'
}
