import type { Stream } from './live-output.js'
import { WholeCharacters } from './utf8.js'

/** Two streams as one, in whole characters: neither cuts the other's in two. */
export class CommandOutput {
  readonly #streams: Readonly<Record<Stream, WholeCharacters>>
  #waits: (Promise<void> | undefined)[] = []

  constructor(sink: (chunk: Buffer, stream: Stream) => (Promise<void> | undefined)[]) {
    const streamInto = (stream: Stream) => new WholeCharacters((chunk) => this.#waits.push(...sink(chunk, stream)))
    this.#streams = { stdout: streamInto('stdout'), stderr: streamInto('stderr') }
  }

  /** Gives a promise while somebody down the line is behind. */
  write(chunk: Buffer, stream: Stream): Promise<void> | undefined {
    this.#waits = []
    this.#streams[stream].push(chunk)
    const waits = this.#waits.filter((wait) => wait !== undefined)
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {})
  }

  end(): void {
    for (const stream of Object.values(this.#streams)) stream.end()
  }
}
