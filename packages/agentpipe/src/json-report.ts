import type { Readable } from 'node:stream'
import { Output } from '@agentpipe/stage'
import { rest } from './rest.js'

/** What resp-render prints of a run in which nothing was said. */
const NOTHING = {
  text: '',
  stop_reason: null,
  session_id: null,
  turns: 0,
  tool_calls: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_creation_tokens: 0 },
  errors: [],
}

/**
 * The one object of `--output-format json`. Of a run that failed without an ERROR frame, that never began for example, its `errors` are what was said on
 * standard error; where there is no object at all, there is one that says so.
 */
export class JsonReport {
  #chunks: Buffer[] = []
  #source: Readable | undefined

  /** Where resp-render prints it. */
  read(source: Readable): void {
    this.#source = source
    source.on('error', () => {})
    source.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
  }

  /** Prints it, after all else. What is no such object is printed as it is: somebody may have put something else in resp-render's place. */
  async print(said: readonly string[], failed: boolean): Promise<void> {
    if (this.#source !== undefined) await rest(this.#source)
    const bytes = Buffer.concat(this.#chunks)
    const object = failed ? (bytes.length === 0 ? NOTHING : objectOf(bytes)) : undefined
    const output = new Output()
    output.write(object?.errors.length === 0 ? `${JSON.stringify({ ...object, errors: said })}\n` : bytes)
    await output.finished()
  }
}

function objectOf(bytes: Buffer): { errors: readonly unknown[] } | undefined {
  try {
    const value = JSON.parse(bytes.toString())
    return Array.isArray(value?.errors) ? value : undefined
  } catch {
    return undefined
  }
}
