import { parseObject } from '@agentpipe/message'

export const NAME = 'SubAgent'

export const DESCRIPTION = `Starts an agent that works on a task by itself, with the same tools and in the same directory, and knows nothing of this conversation. \
Answers at once; what the agent has found comes later, as a message. Several may run side by side: for searches and investigations that do not depend on one another. \
Do not wait for one by other calls: end your answer, and you are asked again when it has ended. Two of them must not change the same files.`

export const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    prompt: { type: 'string', description: 'The task, with all that the agent has to know, and what it is to answer with' },
    description: { type: 'string', description: 'What it is about, in a few words, for the user' },
  },
  required: ['prompt'],
  additionalProperties: false,
} as const

/** What an agent is to do. */
export interface Task {
  readonly prompt: string
  readonly description: string | undefined
}

/** Reads the input of a call, JSON text. Throws an Error for the model where it is not what the schema says. */
export function parseTask(input: string): Task {
  const { prompt, description, ...others } = parseObject(input) ?? {}
  if (typeof prompt !== 'string' || prompt.trim() === '') throw new Error('prompt: expected a text that says what the agent is to do')
  if (prompt.includes('\0')) throw new Error('prompt: a NUL character is no text')
  if (description !== undefined && typeof description !== 'string') throw new Error('description: expected a text')
  const [other] = Object.keys(others)
  if (other !== undefined) throw new Error(`${other.slice(0, 100)}: there is no such parameter: prompt, description`)
  return { prompt, description }
}
