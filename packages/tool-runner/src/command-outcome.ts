import type { CommandEnd } from './command.js'
import type { Outcome } from './tool.js'

/** How it went, as a result says it. */
export function outcomeOf({ cause, exitCode, signal }: CommandEnd, timeoutMs: number | undefined): Pick<Outcome, 'status' | 'summary'> {
  if (cause === 'cancelled') return { status: 'cancelled', summary: 'cancelled' }
  if (cause === 'timeout') return { status: 'timeout', summary: timedOut(timeoutMs) }
  if (signal !== undefined) return { status: 'error', summary: `ended by ${signal}` }
  return exitCode === 0 ? { status: 'ok', summary: 'exit status 0' } : { status: 'error', summary: `exit status ${exitCode}` }
}

/** What the model must know beyond the output. */
export function ending(end: CommandEnd, timeoutMs: number | undefined): string | undefined {
  return end.cause === 'itself' && end.exitCode === 0 ? undefined : `[${outcomeOf(end, timeoutMs).summary}]`
}

function timedOut(timeoutMs: number | undefined): string {
  return `timed out after ${(timeoutMs ?? 0) / 1000} s`
}

/** What a result says in front of an output, the output, and what it says behind it on a line of its own. */
export function joined(note: string | undefined, text: Buffer, last: string | undefined): Buffer {
  const before = note === undefined ? '' : `${note}\n`
  const newline = last === undefined || text.length === 0 || text[text.length - 1] === 0x0a ? '' : '\n'
  return Buffer.concat([Buffer.from(before), text, Buffer.from(`${newline}${last ?? ''}`)])
}
