import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildMessage, buildToolCall } from '@agentpipe/message'

/** What a scripted model says in one response. */
export interface Response {
  readonly text?: string | readonly string[]
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[]
}

let calls = 0

/** A capture of one turn with these responses, as a replay provider plays it. */
export function capture(...responses: readonly Response[]): Buffer {
  return Buffer.concat([...responses.flatMap(responseFrames), buildMessage('STOP', ['end_turn'])])
}

function responseFrames({ text = [], calls: list = [] }: Response): Buffer[] {
  return [
    ...[text].flat().map((piece) => buildMessage('TEXT', [piece])),
    ...list.map(({ name, input }) => buildToolCall(name, `call_${++calls}`, JSON.stringify(input))),
    buildMessage('USAGE', ['100', '10', '0', '0']),
  ]
}

/** A call of Bash, one for each command. */
export function bash(...commands: readonly string[]): Response {
  return { calls: commands.map((command) => ({ name: 'Bash', input: { command } })) }
}

interface Test {
  teardown(work: () => void): void
}

/** A directory for one test, with the capture in it as `model.resp`; everything that the stages keep goes there too. */
export class Workspace {
  readonly directory: string
  /** Processes that were there before: none of them is ours. Looking into one costs 0.1 ms. */
  readonly others: ReadonlySet<string> = new Set(readdirSync('/proc'))

  constructor(test: Test, model: Uint8Array) {
    this.directory = mkdtempSync(join(tmpdir(), 'agentpipe-test-'))
    test.teardown(() => rmSync(this.directory, { recursive: true, force: true }))
    writeFileSync(this.path('model.resp'), model)
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** The environment in which stages keep their state here, and by which `running` knows them. */
  get environment(): Record<string, string> {
    return { XDG_STATE_HOME: this.path('state'), TMPDIR: this.directory, RING_TEST: this.directory }
  }
}
