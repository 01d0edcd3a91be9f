import { messageFields } from '@agentpipe/message'
import type { Item } from './conversation.js'
import type { Journal } from './journal.js'
import type { OutputSchema } from './output-schema.js'
import { TurnError } from './turn-end.js'

/** Checks the answer of a turn against a schema. An answer that does not satisfy it is asked for once more. */
export class AnswerCheck {
  readonly #schema: OutputSchema | undefined
  #repaired = false

  constructor(schema: OutputSchema | undefined) {
    this.#schema = schema
  }

  /** True if the model's last response is the answer; false if the model was told what is wrong. Throws TurnError where it was before. */
  passes(journal: Journal): boolean {
    const problem = this.#schema?.problem(lastText(journal.conversation.items))
    if (problem === undefined) return true
    if (this.#repaired) throw new TurnError('output_schema', `the answer does not satisfy the JSON Schema, asked twice: ${problem}`)
    this.#repaired = true
    const said = `the answer does not satisfy the JSON Schema: ${problem}. The whole answer is needed once more, as JSON and nothing else`
    journal.send(messageFields('ERROR', [said], { code: 'output_schema', source: 'agent-loop' }))
    return false
  }
}

/** The text of the last response. */
function lastText(items: readonly Item[]): string {
  const end = items.findLastIndex(({ kind }) => kind === 'response')
  const pieces: string[] = []
  for (let at = end - 1; at >= 0; at--) {
    const item = items[at] as Item
    if (item.kind === 'response' || item.kind === 'user' || item.kind === 'stop') break
    if (item.kind === 'text') pieces.unshift(item.text)
  }
  return pieces.join('')
}
