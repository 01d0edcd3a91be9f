import { isatty } from 'node:tty'
import { printable, writeStderr } from '@agentpipe/stage'
import type { Outcome } from './batch-job.js'

/** Characters of a prompt in the table. */
const PROMPT = 40
/** Of a reason. */
const REASON = 200
const REDRAW_MS = 1000

/** How far it is: on a terminal a line that is drawn anew, else a line for each that has ended. Standard error, all of it. */
export class Progress {
  readonly #terminal = isatty(2) && process.env.TERM !== 'dumb'
  readonly #before: number
  readonly #all: number
  readonly #began = performance.now()
  readonly #clock: NodeJS.Timeout | undefined
  #running = 0
  #ended = 0
  #failed = 0

  /** `before`: how many had been done already; `all`: how many there are now. */
  constructor(before: number, all: number) {
    this.#before = before
    this.#all = all
    if (this.#terminal) this.#clock = setInterval(() => this.#draw(), REDRAW_MS).unref()
  }

  started(): void {
    this.#running++
    this.#draw()
  }

  ended(outcome: Outcome): void {
    this.#running--
    this.#ended++
    if (outcome.status !== 0) this.#failed++
    if (this.#terminal) this.#draw()
    else writeStderr(`agentpipe: ${this.#ended}/${this.#all} ${how(outcome)} ${outcome.session}: ${cut(outcome.item.prompt, PROMPT)}\n`)
  }

  /** The line goes: the table takes its place. */
  end(): void {
    clearInterval(this.#clock)
    if (this.#terminal) writeStderr('\r\x1b[K')
  }

  /** Digits and plain words alone, and never wider than a narrow terminal: it can't be torn. */
  #draw(): void {
    if (!this.#terminal) return
    const width = Math.max(0, Math.min(20, (process.stderr.columns ?? 80) - 60))
    const full = this.#all === 0 ? width : Math.round((this.#ended / this.#all) * width)
    const bar = width < 8 ? '' : `[${'#'.repeat(full)}${'-'.repeat(width - full)}] `
    const before = this.#before > 0 ? `, ${this.#before} before` : ''
    const text = `${bar}${this.#ended}/${this.#all}, ${this.#running} running, ${this.#failed} failed${before}, ${seconds((performance.now() - this.#began) / 1000)}`
    writeStderr(`\r\x1b[K${text.slice(0, Math.max(1, (process.stderr.columns ?? 80) - 1))}`)
  }
}

/** What has come of it, a row for each in the order of the file. */
export function table(outcomes: readonly Outcome[], { before, left, file }: { before: number; left: number; file: string }): string {
  const sorted = [...outcomes].sort((a, b) => a.item.line - b.item.line)
  const width = Math.max(7, ...sorted.map(({ session }) => session.length))
  const rows = sorted.flatMap((outcome) => {
    const { item, session, usage, worktree, errors } = outcome
    const tokens = String((usage.input_tokens ?? 0) + (usage.output_tokens ?? 0))
    const row = [String(item.line).padStart(4), how(outcome).padEnd(11), session.padEnd(width), tokens.padStart(8), seconds(outcome.seconds).padStart(8)]
    return [
      `${row.join('  ')}  ${cut(item.prompt, PROMPT)}`,
      ...(worktree ? [`      changes on branch ${worktree.branch} in ${printable(worktree.path)}`] : []),
      ...(outcome.status !== 0 && errors.length > 0 ? [`      ${cut(String(errors.at(-1)), REASON)}`] : []),
    ]
  })
  const failed = outcomes.filter(({ status }) => status !== 0).length
  const sum = [
    `${outcomes.length - failed} done`,
    `${failed} failed`,
    ...(before > 0 ? [`${before} done before (${printable(file)}.done)`] : []),
    ...(left > 0 ? [`${left} not begun`] : []),
  ]
  const head = `line  ${'how'.padEnd(11)}  ${'session'.padEnd(width)}    tokens      time  prompt`
  return `${[...(rows.length > 0 ? [head, ...rows] : []), sum.join(', ')].join('\n')}\n`
}

/** A line of JSON of one that has ended. */
export function jsonLine({ item, session, status, seconds, text, stopReason, usage, errors, worktree }: Outcome): string {
  const members = { line: item.line, prompt: item.prompt, session, status, text, stop_reason: stopReason, usage, errors, seconds }
  return `${JSON.stringify({ ...members, ...(worktree ? { worktree: worktree.path, branch: worktree.branch } : {}) })}\n`
}

function how({ status }: Outcome): string {
  if (status === 0) return 'ok'
  return status === 130 ? 'interrupted' : `failed ${status}`
}

function cut(text: string, most: number): string {
  const line = printable(text.trim().replaceAll(/\s+/g, ' '))
  return line.length > most ? `${line.slice(0, most - 3).replace(/[\ud800-\udbff]$/, '')}...` : line
}

function seconds(value: number): string {
  return value < 60 ? `${value.toFixed(1)} s` : `${Math.floor(value / 60)}m ${String(Math.floor(value % 60)).padStart(2, '0')}s`
}
