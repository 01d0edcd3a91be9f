import { jsonText } from '@agentpipe/message'
import { command, descriptorKind, printable, STDOUT } from '@agentpipe/stage'
import { CountCache } from './counts.js'
import { Progress } from './progress.js'
import { readingOptions, sessionsHere } from './reading.js'
import { latestFirst } from './sessions.js'
import { type Outline, outlineOf, type Totals, totalsOf } from './summary.js'
import { allTokens, rounded } from './tokens.js'

/** Milliseconds in which logs are counted that are longer than when they were counted last; both ends of all of them are looked at anyway. */
const COUNTING_MS = 300
/** Characters of the first prompt that a row shows. */
const SHOWN = 60
const GAP = '  '
/** Columns below which a prompt is not shown beside the rest. */
const NARROWEST = 20

const options = {
  all: { type: 'flag', about: 'those of every directory, not only of this one' },
  exact: { type: 'flag', about: 'count all turns and tokens, however long that takes' },
  json: { type: 'flag', about: 'a line of JSON for each' },
  ...readingOptions,
} as const

/** `event-store list`: the sessions, the one with the latest event first. */
export const list = command({
  purpose: 'print the sessions of this directory',
  options,
  examples: ['event-store list', 'event-store list --all --json | jq -r .id'],
  act(context) {
    const { all, json, exact } = context.options
    const sessions = sessionsHere(context, all)
    const outlines = sessions.map(outlineOf)
    const progress = new Progress(exact ? sessions : [])
    const cache = new CountCache()
    const budget = { left: exact ? Number.POSITIVE_INFINITY : COUNTING_MS }
    // The long ones last: none has to wait for them.
    const summaries = outlines
      .sort((one, other) => one.bytes - other.bytes)
      .map((outline) => ({ ...outline, ...totalsOf(outline.session, { cache, budget, read: progress.read }) }))
      .sort(latestFirst)
    progress.clear()
    cache.save(sessions)
    const lines = json ? summaries.map(jsonLine) : rows(summaries, all, screenColumns())
    for (const line of lines) context.output.write(`${line}\n`)
  },
})

type Summary = Outline & Totals

function jsonLine({ session, lastEvent, turns, tokens, counted, prompt, problem }: Summary): string {
  const { id, project, log } = session
  const rest = { ...(counted ? {} : { counted }), ...(problem && { problem }) }
  return jsonText({ id, project, last_event: lastEvent ?? null, turns, tokens, first_prompt: prompt ?? null, path: log, ...rest })
}

function rows(summaries: readonly Summary[], all: boolean, columns: number): string[] {
  const cells = summaries.map(({ session, lastEvent, turns, tokens, counted, prompt, problem }) => [
    session.id,
    ...(all ? [printable(session.project)] : []),
    lastEvent === undefined ? '-' : seconds(lastEvent),
    `${turns}${counted ? '' : '+'} ${turns === 1 && counted ? 'turn' : 'turns'}`,
    `${rounded(allTokens(tokens))}${counted ? '' : '+'} tokens`,
    problem === undefined ? oneLine(prompt ?? '-') : `(${oneLine(problem)})`,
  ])
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  const fixed = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  if (columns - fixed < NARROWEST) return cells.flatMap((row) => folded(row, columns))
  return cells.map((row) => cut(row.map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell)).join(GAP), columns))
}

/** A row on as many lines as it needs where the screen is too narrow for columns; those behind the first are indented. */
function folded(row: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const cell of row) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + GAP.length + cell.length <= columns) lines[lines.length - 1] = `${last}${GAP}${cell}`
    else lines.push(lines.length === 0 ? cell : `${GAP}${cell}`)
  }
  return lines.map((line) => cut(line, columns))
}

/** What COLUMNS says or the terminal has; without end where neither is there: a program that reads rows wants whole ones. */
function screenColumns(): number {
  return Number(process.env.COLUMNS) || (descriptorKind(STDOUT) === 'terminal' && process.stderr.columns) || Number.POSITIVE_INFINITY
}

function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}

/** `2026-12-01T09:30:00.123Z` without its fraction. */
function seconds(time: string): string {
  return new Date(time).toISOString().replace(/\.\d+/, '')
}

/** Any text on one line, cut, and safe on a terminal. */
function oneLine(text: string): string {
  return printable(cut(text.replace(/\s+/g, ' ').trim(), SHOWN))
}
