import type { OptionTable, OptionValues } from '@agentpipe/stage'

export const OPTIONS = {
  max: { type: 'count', value: 'N', default: 4, about: 'sub-agents that run side by side; others wait' },
  depth: { type: 'count', value: 'N', default: 2, about: 'how deep sub-agents may start sub-agents; 0: none at all' },
} as const satisfies OptionTable

export type Options = OptionValues<typeof OPTIONS>
