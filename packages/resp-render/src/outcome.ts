import { wholeNumber } from './attributes.js'
import type { DiffStat } from './diff.js'
import { grouped, oneLine } from './invisible.js'
import type { Piece } from './notice.js'

/** A call that took as long as this says so, in milliseconds. */
const LONG_MS = 1000

export interface Outcome {
  readonly failed: boolean
  /** What is worth saying about how the call ended, in the order in which it is shown. Nothing for one that just worked. */
  readonly parts: readonly (readonly Piece[])[]
}

/** How a call ended, from the attributes of its TOOL_RESULT. */
export function outcomeOf(attributes: ReadonlyMap<string, Buffer>, stat: DiffStat | undefined): Outcome {
  const how = howItEnded(attributes)
  const summary = oneLine(attributes.get('summary'))
  const parts: (readonly Piece[])[] = []
  if (stat)
    parts.push([
      [`+${grouped(stat.added)}`, 'added'],
      [' ', 'text'],
      [`-${grouped(stat.removed)}`, 'removed'],
    ])
  if (how !== undefined) parts.push([[beginsWith(summary, how) ? summary : how, 'failed']])
  if (summary !== '' && !isSaid(summary, how, stat)) parts.push([[summary, 'note']])
  const milliseconds = wholeNumber(attributes.get('duration_ms'))
  if (milliseconds !== undefined && milliseconds >= LONG_MS) parts.push([[duration(milliseconds), 'note']])
  if (attributes.has('image')) parts.push([[`image ${oneLine(attributes.get('image_type'))}`.trim(), 'note']])
  if (attributes.has('full_output')) parts.push([[`whole output: ${oneLine(attributes.get('full_output'))}`, 'note']])
  return { failed: how !== undefined, parts }
}

function howItEnded(attributes: ReadonlyMap<string, Buffer>): string | undefined {
  const status = oneLine(attributes.get('status'), 40)
  const exitCode = oneLine(attributes.get('exit_code'), 20)
  const signal = oneLine(attributes.get('signal'), 20)
  const permission = oneLine(attributes.get('permission'), 200)
  if (status === 'denied') return permission === '' ? 'denied' : `denied by ${permission}`
  if (status === 'timeout') return 'timed out'
  if (status === 'cancelled') return 'cancelled'
  if (signal !== '') return `ended by ${signal}`
  if (exitCode !== '' && exitCode !== '0') return `exit ${exitCode}`
  if (status === '' || status === 'ok') return undefined
  return status === 'error' ? 'failed' : status
}

/** A summary that only says what is shown anyway. */
function isSaid(summary: string, how: string | undefined, stat: DiffStat | undefined): boolean {
  if (how !== undefined && beginsWith(summary, how)) return true
  if (stat !== undefined && summary === `+${stat.added} -${stat.removed}`) return true
  const status = /^exit status (\d+)$/.exec(summary)?.[1]
  return status !== undefined && (status === '0' || how === `exit ${status}`)
}

function beginsWith(text: string, start: string): boolean {
  return text.toLowerCase().startsWith(start.toLowerCase())
}

/** `1.2s`, `42s`, `3m 05s`, `2h 03m`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)}s`
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`
  return `${Math.floor(seconds / 3600)}h ${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}m`
}
