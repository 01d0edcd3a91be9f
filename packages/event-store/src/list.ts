import { jsonText } from '@agentpipe/message'
import { command, printable } from '@agentpipe/stage'
import { readingOptions } from './reading.js'
import { projectDirectory, stateDirectory, workingDirectory } from './session-directory.js'
import { allSessions, latestFirst, sessionsIn } from './sessions.js'
import { type Summary, summaryOf } from './summary.js'

/** Characters of the first prompt that a row shows. */
const SHOWN = 60

const options = {
  all: { type: 'flag', about: 'those of every directory, not only of this one' },
  json: { type: 'flag', about: 'a line of JSON for each' },
  ...readingOptions,
} as const

/** `event-store list`: the sessions, the one with the latest event first. */
export const list = command({
  purpose: 'print the sessions of this directory',
  options,
  examples: ['event-store list', 'event-store list --all --json | jq -r .id'],
  act({ options: { all, json, dir }, output }) {
    const state = stateDirectory(dir)
    const sessions = all ? allSessions(state) : sessionsIn(projectDirectory(state, workingDirectory()))
    const summaries = sessions.map(summaryOf).sort(latestFirst)
    const lines = json ? summaries.map(jsonLine) : rows(summaries, all)
    for (const line of lines) output.write(`${line}\n`)
  },
})

function jsonLine({ session, lastEvent, turns, prompt, problem }: Summary): string {
  const { id, project, log } = session
  return jsonText({ id, project, last_event: lastEvent ?? null, turns, first_prompt: prompt ?? null, path: log, ...(problem && { problem }) })
}

function rows(summaries: readonly Summary[], all: boolean): string[] {
  const cells = summaries.map(({ session, lastEvent, turns, prompt, problem }) => [
    session.id,
    ...(all ? [printable(session.project)] : []),
    lastEvent === undefined ? '-' : seconds(lastEvent),
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    problem === undefined ? oneLine(prompt ?? '-') : `(${oneLine(problem)})`,
  ])
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  return cells.map((row) => row.map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell)).join('  '))
}

/** `2026-12-01T09:30:00.123Z` without its fraction. */
function seconds(time: string): string {
  return new Date(time).toISOString().replace(/\.\d+/, '')
}

/** Any text on one line, cut, and safe on a terminal. */
function oneLine(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()]
  return printable(characters.length > SHOWN ? `${characters.slice(0, SHOWN - 1).join('')}…` : characters.join(''))
}
