import { printable } from '@agentpipe/stage'
import type { Figures, ModelFigures, ToolFigures } from './statistics.js'
import { allTokens, rounded } from './tokens.js'

const GAP = '  '
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/** Figures for people: a line, and a table each of models and tools. */
export function report({ sessions, turns, events, tokens, cost_usd: cost, models, tools }: Figures): string[] {
  const lines = [`${counted(sessions, 'session')}, ${counted(turns, 'turn')}, ${counted(events, 'event')}, ${rounded(allTokens(tokens))} tokens, ${usd(cost)}`]
  if (models.length > 0) lines.push('', ...columns([MODEL_HEAD, ...models.map(modelRow)]))
  const unpriced = models.filter(({ cost_usd: known }) => known === null).map(({ model }) => model || 'the unnamed one')
  if (unpriced.length > 0)
    lines.push('', `without the cost of ${unpriced.map(printable).join(', ')}: "agent-loop": {"prices": ...} in the config file tells it`)
  if (tools.length > 0) lines.push('', ...columns([TOOL_HEAD, ...tools.map(toolRow)]))
  return lines
}

const MODEL_HEAD = ['model', 'responses', 'input', 'output', 'cache read', 'cache creation', 'cost']
const TOOL_HEAD = ['tool', 'calls', 'failed', 'time', 'mean', 'longest']

function modelRow({ model, responses, input, output, cache_read: read, cache_creation: creation, cost_usd: cost }: ModelFigures): string[] {
  return [printable(model || '-'), String(responses), ...[input, output, read, creation].map(rounded), cost === null ? '?' : usd(cost)]
}

function toolRow({ tool, calls, failed, duration_ms: sum, longest_ms: longest }: ToolFigures): string[] {
  return [printable(tool), String(calls), String(failed), duration(sum), duration(sum / calls), duration(longest)]
}

/** Rows as lines of columns, the first column to the left, the others to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? []
  return rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(GAP))
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function usd(cost: number): string {
  return `$${cost.toFixed(cost < 1 ? 4 : 2)}`
}

function duration(milliseconds: number): string {
  if (milliseconds < SECOND_MS) return `${Math.round(milliseconds)} ms`
  if (milliseconds < MINUTE_MS) return `${(milliseconds / SECOND_MS).toFixed(1)} s`
  return `${Math.floor(milliseconds / MINUTE_MS)} min ${Math.round((milliseconds % MINUTE_MS) / SECOND_MS)} s`
}
