import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { isatty } from 'node:tty'
import { Lines, Output, printable, STDOUT } from '@agentpipe/stage'
import { KeptLines } from './kept-lines.js'
import { rest } from './rest.js'

/** A longer line is shown in pieces. */
const LONGEST_LINE = 8 * 1024

/**
 * What stages say on standard error, line by line, with what would act on a terminal made visible. It is passed on as it comes, unless it would land in the
 * middle of what is drawn: where standard output and standard error are one terminal, it waits for the end.
 */
export class StageStderr {
  readonly #kept = new KeptLines()
  readonly #sources: readonly Readable[]
  readonly #output: Output | undefined

  constructor(sources: readonly Readable[]) {
    this.#sources = sources
    // Who asks for a trace wants to see when things happen.
    this.#output = isOneTerminal() && !process.env.AGENTPIPE_TRACE ? undefined : new Output({ descriptor: 2 })
    for (const source of sources) this.#read(source)
  }

  /** The lines that were said, but for some in the middle where they are too many. */
  get lines(): string[] {
    return this.#kept.lines
  }

  /** Once the stages have ended: takes what is left, shows what has waited, and resolves when all of it is written. */
  async finish(): Promise<void> {
    await Promise.all(this.#sources.map(rest))
    for (const source of this.#sources) source.destroy()
    const output = this.#output ?? new Output({ descriptor: 2 })
    if (this.#output === undefined) output.write(this.lines.map((line) => `${line}\n`).join(''))
    await output.finished()
  }

  #read(source: Readable): void {
    const lines = new Lines(LONGEST_LINE, (line) => this.#line(line))
    source.on('error', () => {})
    source.on('end', () => lines.end())
    source.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      this.#output?.flush()
      if (!this.#output?.backedUp) return
      source.pause()
      this.#output.drained().then(() => source.resume())
    })
  }

  #line(bytes: Buffer): void {
    const line = visible(bytes.toString())
    this.#kept.add(line)
    this.#output?.write(`${line}\n`)
  }
}

/** A line with what would act on a terminal made visible. Tabs do no harm. */
export function visible(line: string): string {
  return line.replace(/\r$/, '').split('\t').map(printable).join('\t')
}

/** Whether standard output and standard error are the same terminal. */
function isOneTerminal(): boolean {
  return isatty(STDOUT) && isatty(2) && fstatSync(STDOUT).rdev === fstatSync(2).rdev
}
