import { createRequire } from 'node:module'
import type { StreamParser } from '@codemirror/streamparser'
import type { Role } from '../theme.js'
import { languageOf } from './languages.js'

const require = createRequire(import.meta.url)

/** A longer line has no colours: what a line costs is bounded. */
const LONGEST_LINE = 1000
/** Steps without getting on that a language may take: some change their state by them. */
const MOST_IDLE = 10
const INDENT_UNIT = 2

const ROLES: Readonly<Record<string, Role>> = {
  comment: 'comment',
  ...all('keyword', 'keyword', 'controlKeyword', 'operatorKeyword', 'modifier', 'self', 'definitionKeyword', 'moduleKeyword'),
  ...all('string', 'string', 'string2', 'character', 'regexp', 'url', 'attributeValue', 'quote'),
  ...all('number', 'number', 'atom', 'bool', 'null', 'unit', 'color', 'literal', 'integer', 'float'),
  ...all('type', 'typeName', 'type', 'className', 'tagName', 'tag', 'namespace', 'labelName', 'meta', 'annotation', 'builtin'),
  ...all('name', 'function', 'def', 'attributeName', 'attribute', 'propertyName', 'property', 'variableName.definition', 'variableName.function'),
  ...all('operator', 'operator', 'punctuation', 'bracket'),
  inserted: 'added',
  deleted: 'removed',
  heading: 'heading',
  strong: 'strong',
  emphasis: 'emphasis',
  link: 'link',
}

function all(role: Role, ...tags: readonly string[]): Readonly<Record<string, Role>> {
  return Object.fromEntries(tags.map((tag) => [tag, role]))
}

/** Colours code line by line. It knows what is open: a string or a comment of several lines. Of a language that it doesn't know lines stay as they are. */
export class Highlighter {
  readonly #parser: StreamParser<unknown> | undefined
  #state: unknown

  /** `name` as it stands behind a fence. */
  constructor(name: string) {
    this.#parser = name === '' ? undefined : languageOf(name)
    this.#state = this.#parser?.startState?.(INDENT_UNIT) ?? {}
  }

  /** A line without its end, and without tabs: `each` is told its pieces. */
  line(line: string, each: (text: string, role: Role | undefined) => void): void {
    if (this.#parser === undefined || line.length > LONGEST_LINE) {
      each(line, undefined)
      return
    }
    const done = this.#pieces(line, this.#parser, each)
    if (done === line.length) return
    // Code that is no code of the language may take it where it has not been.
    this.#state = this.#parser.startState?.(INDENT_UNIT) ?? {}
    each(line.slice(done), undefined)
  }

  blankLine(): void {
    this.#parser?.blankLine?.(this.#state, INDENT_UNIT)
  }

  /** Gives how much of the line was told: all of it, unless the language failed. */
  #pieces(line: string, parser: StreamParser<unknown>, each: (text: string, role: Role | undefined) => void): number {
    const stream = new (streamClass())(line, 4, INDENT_UNIT)
    let [start, idle] = [0, 0]
    let role: Role | undefined
    try {
      while (!stream.eol()) {
        const tag = parser.token(stream, this.#state)
        if (stream.pos === stream.start) {
          if (++idle > MOST_IDLE) stream.next()
          else continue
        }
        idle = 0
        const next = roleOf(tag)
        if (next !== role) {
          if (stream.start > start) each(line.slice(start, stream.start), role)
          start = stream.start
          role = next
        }
        stream.start = stream.pos
      }
    } catch {
      return start
    }
    each(line.slice(start), role)
    return line.length
  }
}

let shared: typeof import('@codemirror/streamparser').StringStream | undefined

function streamClass(): typeof import('@codemirror/streamparser').StringStream {
  shared ??= (require('@codemirror/streamparser') as typeof import('@codemirror/streamparser')).StringStream
  return shared
}

/** Languages have few tags, and name them for each word. Null: it has no role. */
const found = new Map<string, Role | null>()
const MOST_TAGS = 1000

function roleOf(tags: string | null): Role | undefined {
  if (!tags) return undefined
  const known = found.get(tags)
  if (known !== undefined) return known ?? undefined
  const role = findRole(tags)
  if (found.size < MOST_TAGS) found.set(tags, role ?? null)
  return role
}

function findRole(tags: string): Role | undefined {
  for (const tag of tags.split(' ')) {
    const role = ROLES[tag] ?? ROLES[tag.split('.')[0] as string]
    if (role !== undefined) return role
  }
  return undefined
}
