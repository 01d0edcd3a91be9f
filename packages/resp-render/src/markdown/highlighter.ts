import type { StreamParser } from '@codemirror/streamparser'
import type { Role } from '../theme.js'
import { codeStream } from './code-stream.js'
import { languageOf } from './languages.js'

/** A longer line has no colours: what a line costs is bounded. */
const LONGEST_LINE = 1000
/** Steps without getting on that a language may take: some change their state by them. */
const MOST_IDLE = 10
/** Of what is kept so that it need not be made again. */
const MOST_KEPT = 1000
const INDENT_UNIT = 2
/** A language looks for where it is through all that is open. Code in which more brackets are, or that is longer, is begun anew: it is no code, or nobody minds. */
const MOST_OPEN = 300
const LONGEST_CODE = 256 * 1024

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
  /** Since its beginning: brackets that were opened and not closed, and characters. */
  #open = 0
  #length = 0

  /** `name` as it stands behind a fence. */
  constructor(name: string) {
    this.#parser = name === '' ? undefined : languageOf(name)
    this.#begin()
  }

  /** A line without its end, and without tabs: `each` is told its pieces. */
  line(line: string, each: (text: string, role: Role | undefined) => void): void {
    if (this.#parser === undefined || line.length > LONGEST_LINE) {
      each(line, undefined)
      return
    }
    const done = this.#pieces(line, this.#parser, each)
    this.#open = Math.max(0, this.#open + bracketsIn(line))
    this.#length += line.length
    // Code that is no code of the language may take it where it has not been.
    if (done < line.length || this.#open > MOST_OPEN || this.#length > LONGEST_CODE) this.#begin()
    if (done < line.length) each(line.slice(done), undefined)
  }

  #begin(): void {
    this.#state = this.#parser?.startState?.(INDENT_UNIT) ?? {}
    this.#open = 0
    this.#length = 0
  }

  blankLine(): void {
    this.#parser?.blankLine?.(this.#state, INDENT_UNIT)
  }

  /** Gives how much of the line was told: all of it, unless the language failed. */
  #pieces(line: string, parser: StreamParser<unknown>, each: (text: string, role: Role | undefined) => void): number {
    const stream = codeStream(line, INDENT_UNIT)
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

/** How many more brackets a line opens than it closes. */
function bracketsIn(line: string): number {
  let open = 0
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    // ( ) [ ] { }
    if (code === 0x28 || code === 0x5b || code === 0x7b) open++
    else if (code === 0x29 || code === 0x5d || code === 0x7d) open--
  }
  return open
}

/** Languages have few tags, and name them for each word. Null: it has no role. */
const found = new Map<string, Role | null>()

function roleOf(tags: string | null): Role | undefined {
  if (!tags) return undefined
  const known = found.get(tags)
  if (known !== undefined) return known ?? undefined
  const role = findRole(tags)
  if (found.size < MOST_KEPT) found.set(tags, role ?? null)
  return role
}

function findRole(tags: string): Role | undefined {
  for (const tag of tags.split(' ')) {
    const role = ROLES[tag] ?? ROLES[tag.split('.')[0] as string]
    if (role !== undefined) return role
  }
  return undefined
}
