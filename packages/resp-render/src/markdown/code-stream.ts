import { createRequire } from 'node:module'
import type { StringStream } from '@codemirror/streamparser'

const require = createRequire(import.meta.url)

/** Lines come without tabs. */
const TAB_SIZE = 4
/** Of what is kept so that it need not be made again. */
const MOST_KEPT = 1000
const SPACE = 0x20
const NO_BREAK_SPACE = 0xa0
const ASCII = 0x80

type Stream = typeof StringStream

let shared: Stream | undefined

/** A line as languages of CodeMirror read it. What they ask for most is answered without a search for each character. */
export function codeStream(line: string, indentUnit: number): StringStream {
  shared ??= streamClass()
  return new shared(line, TAB_SIZE, indentUnit)
}

function streamClass(): Stream {
  const { StringStream } = require('@codemirror/streamparser') as { StringStream: Stream }
  return class extends StringStream {
    override match(pattern: string | RegExp, consume?: boolean, caseInsensitive?: boolean): boolean | RegExpMatchArray | null {
      return super.match(typeof pattern === 'string' ? pattern : atStart(pattern), consume, caseInsensitive)
    }

    override eatWhile(match: string | RegExp | ((character: string) => boolean)): boolean {
      if (!(match instanceof RegExp) || match.global || match.sticky) return super.eatWhile(match)
      const start = this.pos
      const set = characterSet(match)
      while (this.pos < this.string.length && set.has(this.string.charCodeAt(this.pos))) this.pos++
      return this.pos > start
    }

    override eatSpace(): boolean {
      const start = this.pos
      while (this.pos < this.string.length && isBlank(this.string.charCodeAt(this.pos))) this.pos++
      return this.pos > start
    }
  }
}

/** `\s`, as StringStream has it. */
function isBlank(code: number): boolean {
  return code === SPACE || (code > 0x08 && code < 0x0e) || (code >= NO_BREAK_SPACE && /\s/.test(String.fromCharCode(code)))
}

/** The characters that a pattern takes, of one each. */
class CharacterSet {
  readonly #pattern: RegExp
  /** Of each ASCII character: whether it is in it. */
  readonly #ascii: readonly boolean[]

  constructor(pattern: RegExp) {
    this.#pattern = pattern
    this.#ascii = Array.from({ length: ASCII }, (_, code) => pattern.test(String.fromCharCode(code)))
  }

  has(code: number): boolean {
    return code < ASCII ? (this.#ascii[code] as boolean) : this.#pattern.test(String.fromCharCode(code))
  }
}

/** By how patterns are written: languages make one anew each time they need it. */
const sets = new Map<string, CharacterSet>()

function characterSet(pattern: RegExp): CharacterSet {
  const key = pattern.ignoreCase ? `i/${pattern.source}` : pattern.source
  let set = sets.get(key)
  if (set === undefined) {
    set = new CharacterSet(pattern)
    if (sets.size < MOST_KEPT) sets.set(key, set)
  }
  return set
}

/** Patterns by how they are written, each bound to the place where it is tried: who wrote one without `^` has the whole line searched for nothing. */
const bound = new Map<string, RegExp>()

function atStart(pattern: RegExp): RegExp {
  const { source, flags } = pattern
  if (source.startsWith('^') || flags.includes('g')) return pattern
  const key = `${flags}/${source}`
  let found = bound.get(key)
  if (found === undefined) {
    found = new RegExp(source, `${flags.replace('y', '')}y`)
    if (bound.size < MOST_KEPT) bound.set(key, found)
  }
  found.lastIndex = 0
  return found
}
