/** A plain scalar of YAML that is text and nothing else: no quotes, comments, mappings, numbers, nor true, null and their like. */
const PLAIN = /^([A-Za-z][\w-]*): +(?!(?:true|false|null|yes|no|on|off)$)([A-Za-z][^#]*)$/i

/** `key: the rest of the line`, whatever it holds. */
const LINE = /^([A-Za-z][\w-]*):[ \t]+(.+)$/

/**
 * What the front matter of a Markdown file says: the YAML between its first line `---` and the next. Undefined where there is none. Read as people mean it: what
 * is no YAML, as `description: Use when: ...`, is taken line by line. The parser is loaded only for what needs one, as that takes longer than all else.
 */
export async function frontMatter(text: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const [, front] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text) ?? []
  if (front === undefined) return undefined
  const lines = front.split(/\r?\n/).map((line) => line.trimEnd())
  const plain = lines.map((line) => PLAIN.exec(line))
  if (plain.every((match) => match !== null && !match[2]?.includes(': ') && !match[2]?.endsWith(':'))) return members(plain)
  const { parse } = await import('yaml')
  try {
    const value: unknown = parse(front, { maxAliasCount: 0 })
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Line by line, then.
  }
  return members(lines.map((line) => LINE.exec(line)))
}

function members(lines: readonly (RegExpExecArray | null)[]): Record<string, unknown> {
  return Object.fromEntries(lines.flatMap((match) => (match === null ? [] : [[match[1], match[2]]])))
}
