import type { OptionTable, OptionValues } from '@agentpipe/stage'

export const OPTIONS = {
  provider: { type: 'text', value: 'NAME', about: 'anthropic, openai, openai-responses, google or replay' },
  model: { type: 'text', value: 'M', about: 'the model that answers' },
  'base-url': { type: 'text', value: 'URL', about: 'of the model server' },
  from: { type: 'text', value: 'FILE', about: 'the capture that --provider replay plays' },
  once: { type: 'flag', about: 'leave after the first turn' },
  'no-tools': { type: 'flag', about: 'answer without tools, and wait for no runner' },
  'max-turns': { type: 'count', value: 'N', about: 'model requests in a turn at most (no limit)' },
  'max-tokens': { type: 'count', value: 'N', about: 'tokens in an answer at most' },
  'max-context': { type: 'count', value: 'N', about: 'tokens in a request at most' },
  effort: { type: 'text', value: 'LEVEL', about: 'how hard the model tries: low, medium, high' },
  thinking: { type: 'text', value: 'TOKENS', about: 'tokens that it may think, or off' },
  system: { type: 'text', value: 'FILE', about: 'file with the system prompt' },
  'append-system': { type: 'text', value: 'TEXT', about: 'added to the system prompt' },
  session: { type: 'text', value: 'ID', about: 'name of the session (made up)' },
} as const satisfies OptionTable

export type Settings = OptionValues<typeof OPTIONS>
