import { parseObject } from '@agentpipe/message'

/** How a nested agent ended. */
export interface Outcome {
  readonly status: 'ok' | 'error' | 'cancelled'
  /** What the model is told of it. */
  readonly text: string
  /** Tokens: input, output, read from and written to the cache. */
  readonly usage: readonly [number, number, number, number]
}

const MEMBERS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_creation_tokens'] as const

/** What `agentpipe --output-format json` has printed, and how it ended, as an outcome. `stderr` is what it said there, or the end of it. */
export function outcomeOf(
  stdout: string,
  stderr: string,
  exit: { readonly cancelled: boolean; readonly how: string; readonly status: number | undefined },
): Outcome {
  const report = parseObject(stdout.trim()) ?? {}
  const answer = typeof report.text === 'string' ? report.text : ''
  const usage = typeof report.usage === 'object' && report.usage !== null ? (report.usage as Readonly<Record<string, unknown>>) : {}
  const tokens = MEMBERS.map((member) => wholeNumber(usage[member])) as unknown as Outcome['usage']
  if (exit.cancelled) return { status: 'cancelled', text: told(answer, 'The agent was interrupted.'), usage: tokens }
  if (exit.status === 0 && report.stop_reason === 'end_turn') return { status: 'ok', text: answer === '' ? '(it said nothing)' : answer, usage: tokens }
  const errors = Array.isArray(report.errors) ? report.errors.filter((error) => typeof error === 'string') : []
  const why = [...errors.slice(-3), errors.length === 0 ? stderr.trim() : ''].filter((line) => line !== '').join('\n')
  return { status: 'error', text: told(answer, `The agent failed (${exit.how}).${why === '' ? '' : `\n${why}`}`), usage: tokens }
}

function told(answer: string, end: string): string {
  return answer === '' ? end : `${answer}\n\n${end}`
}

function wholeNumber(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}
