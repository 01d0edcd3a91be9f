import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, fieldsOf, frames, run } from '@agentpipe/testing'

/** A TOOL_RESULT, taken apart. */
export interface Result {
  readonly id: string
  readonly name: string
  readonly output: string
  readonly [attribute: string]: string
}

/** A place to work in: a workspace `ws`, a temporary directory `tmp` for the runner, and `out`, which is neither. */
export class Place {
  readonly top = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runner-test-')))
  readonly workspace = join(this.top, 'ws')
  readonly temporary = join(this.top, 'tmp')
  readonly outside = join(this.top, 'out')

  constructor(t: { teardown(work: () => void): void }) {
    for (const directory of [this.workspace, this.temporary, this.outside]) mkdirSync(directory)
    t.teardown(() => rmSync(this.top, { recursive: true, force: true }))
  }

  get environment(): Record<string, string> {
    return { TMPDIR: this.temporary }
  }

  /** Runs calls in the workspace, one after the other where they write, and gives their results in the order of the calls. */
  async call(calls: readonly (readonly [name: string, input: unknown])[], options: readonly string[] = []): Promise<Result[]> {
    const ended = await this.run(
      frames(...calls.map(([name, input], index) => ['TOOL_CALL', name, `c${index + 1}`, typeof input === 'string' ? input : JSON.stringify(input)])),
      options,
    )
    if (ended.status !== 0 || ended.stderr !== '') throw new Error(`tool-runner ended with ${ended.status}: ${ended.stderr}`)
    const results = resultsOf(ended.stdout)
    return calls.map((_, index) => results.find(({ id }) => id === `c${index + 1}`) ?? { id: '', name: '', output: 'no result' })
  }

  /** The result of one call. */
  async callOne(name: string, input: unknown, options: readonly string[] = []): Promise<Result> {
    return (await this.call([[name, input]], options))[0] as Result
  }

  run(input: Uint8Array, options: readonly string[] = [], env: Readonly<Record<string, string | undefined>> = {}): Promise<Ended> {
    return run('tool-runner', options, { input, cwd: this.workspace, env: { ...this.environment, ...env } })
  }
}

/** The results among frames, in the order in which they came. */
export function resultsOf(bytes: Uint8Array): Result[] {
  return fieldsOf(bytes)
    .filter(([type]) => type === 'TOOL_RESULT')
    .map(resultOf)
}

export function resultOf([, id = '', name = '', output = '', ...attributes]: readonly string[]): Result {
  const pairs = attributes.flatMap((key, index) => (index % 2 === 0 ? [[key, attributes[index + 1] ?? '']] : []))
  return { ...Object.fromEntries(pairs), id, name, output }
}
